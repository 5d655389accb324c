# The schema of the op, and its prototype.
SOURCES += $(BUILD)/ops.c
$(OBJECTS): $(BUILD)/ops.h
$(BUILD)/ops.h: {{component}}.opdef | $(BUILD)
	$(OPGEN) header $@ $<
$(BUILD)/ops.c: {{component}}.opdef | $(BUILD)
	$(OPGEN) tables $@ --include=ops.h $<
