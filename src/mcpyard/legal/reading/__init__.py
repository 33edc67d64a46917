"""Reading files into documents: Markdown, plain text, JSON lines."""
