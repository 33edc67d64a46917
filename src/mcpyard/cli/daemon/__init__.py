"""The parts of `mcpyard up` as a process: where it listens, its output and log, its watchdog."""
