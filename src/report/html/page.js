// Draws the answer that the page holds.
({ estimate, fix: advice, gate, diagnose })[data.kind](data.answer);
