"""The processes of local servers: started, marked, and ended without orphans."""
