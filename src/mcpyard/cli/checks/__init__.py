"""What `mcpyard doctor` checks besides the servers."""
