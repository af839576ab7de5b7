export const LLM_REQUIREMENTS: Record<string, string> = {
  'S004-decision-no-mcp': 'A decision binds no MCP server and asks no model: its conditions alone decide',
  'S004-decision-payload':
    'A decision artifact has matched_connector_ids, evaluations, no_match, resolved_route_key, resolved_route_path, routing_state',
  'S004-decision-evaluations': 'Each evaluation has connector_id, condition_text, matched and reason',
  'S004-strict-json': 'A strict JSON answer is one object, bare or in one fenced block; the error names anything else',
  'FLR-decision-examples':
    'Comparisons, contains, truthiness and the route word decide as in the worked examples; text search is gone',
  'FLR-decision-types': 'true and false compare as such, numbers as numbers',
  'FLR-decision-cel': 'Everything that is not of the simple form is a CEL expression over the input context',
  'FLR-decision-bounded':
    'An expression that loops, throws or gives no boolean has failed and does not match, with the reason, in time',
  'FLR-decision-failed':
    'Where a condition fails and none matches, the node fails with condition_failed; where one matches, it is degraded',
  'FLR-decision-invalid': 'An expression that cannot be read is an issue at save and condition_invalid in a run',
  'FLR-decision-all-evaluated': 'All conditions are evaluated, several may match, the first is the route key',
  'FLR-decision-config': 'Conditions are unique by connector, route_field_path is dropped, other keys stay',
  'FLR-task-config':
    'A task config gets its defaults, keeps keys that are not its own, and each bad value has an issue',
  'FLR-task-prompt-required': 'A task for a model or a person without task_prompt is saved but does not run',
  'FLR-task-static': 'A static task gives its output as structured_output',
  'FLR-task-json-first': 'The first prompt already asks for a single JSON object',
  'FLR-task-repair': 'An unusable answer is sent back with the error and an excerpt, as often as attempts allow',
  'FLR-task-output': 'A task leaves provider, model, structured and bounded raw output, usage and the route it names',
  'FLR-task-context-bounded':
    'What a task prompt shows of the run is bounded in all and in each entry, and says what was cut',
  'FLR-task-files': 'Text files are inlined up to a limit, images are passed on, others are named',
  'FLR-task-human': 'A human task waits with prompt, schema and allow_agents; its answer becomes the output',
  'FLR-llm-not-configured': 'Without a model or key every call is llm_not_configured and says what to set',
  'FLR-llm-providers': 'OpenAI and Anthropic models, tools, images and schemas go over the wire as each protocol wants',
  'FLR-llm-budget':
    'A prompt over its budget is refused before it is sent; the output is capped and cut answers are coded',
  'FLR-llm-retries': 'Only transient errors are tried again, at most twice, and Retry-After is honoured',
  'FLR-llm-bounded': 'A server that hangs, stalls, floods, cuts or answers garbage is a coded error in bounded time',
  'FLR-llm-cancel': 'A call ends with its signal, also while it waits in line',
  'FLR-llm-slots': 'No more than sixteen calls are under way at once',
  'FLR-llm-redaction': 'No log line and no error holds a prompt, an answer or a key',
  'FLR-tasks-list': 'Waiting human tasks of the vault are listed in pages, by flowchart and by run',
  'FLR-tasks-answer': 'An editor answers a task once; the answer is stored canonically and the run is woken',
  'FLR-tasks-agents': 'Agents answer only where the task allows it; viewers never',
  'FLR-tasks-schema': 'An answer that does not fit answer_schema is refused with its issues',
  'FLR-tasks-vault': 'A task of another vault is as missing as one that does not exist',
};
