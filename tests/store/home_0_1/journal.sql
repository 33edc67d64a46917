PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE calls (
        id INTEGER PRIMARY KEY, at INTEGER NOT NULL, who TEXT NOT NULL, server TEXT NOT NULL,
        server_name TEXT NOT NULL, tool TEXT NOT NULL, ms REAL NOT NULL, outcome TEXT NOT NULL,
        bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL) STRICT;
INSERT INTO calls VALUES(1,1794830857802867,'admin','ae4a5fbf-388a-49b1-b16b-d879db875485','law','list_templates',5.2652609992946963757,'ok',2,4240);
INSERT INTO calls VALUES(2,1794830858325557,'admin','ae4a5fbf-388a-49b1-b16b-d879db875485','law','get_article',3.483297999991918914,'tool_error',28,219);
COMMIT;
PRAGMA user_version = 1;
PRAGMA application_id = 1835233401;
