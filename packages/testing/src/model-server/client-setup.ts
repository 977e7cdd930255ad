/** The shell lines that point each CLI to the server. */
export type ClientSetup = { cli: string; lines: string[] };

const key = 'sk-test';

/** How to point each CLI to a server. Any key works, unless the server was given a list. */
export function clientSetups(url: string): ClientSetup[] {
  const provider = { npm: '@ai-sdk/openai-compatible', options: { baseURL: `${url}/v1`, apiKey: key } };
  const opencode = {
    provider: { lab: { ...provider, models: { 'scripted-1': {} } } },
    model: 'lab/scripted-1',
    small_model: 'lab/scripted-1',
  };
  const gemini = { security: { auth: { selectedType: 'gemini-api-key' } } };
  const pi = {
    providers: { lab: { baseUrl: url, api: 'anthropic-messages', apiKey: key, models: [{ id: 'scripted-1' }] } },
  };
  return [
    {
      cli: 'claude',
      lines: [
        `export ANTHROPIC_BASE_URL=${url} ANTHROPIC_API_KEY=${key} CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1`,
        "claude -p --dangerously-skip-permissions 'Hello'",
      ],
    },
    {
      cli: 'codex',
      lines: [
        `export LAB_KEY=${key}`,
        `codex exec -c model_provider=lab -c 'model_providers.lab={name="lab",base_url="${url}/v1",env_key="LAB_KEY",wire_api="responses"}' --dangerously-bypass-approvals-and-sandbox 'Hello'`,
      ],
    },
    {
      cli: 'gemini',
      lines: [
        'export GEMINI_CLI_HOME="$(mktemp -d)"',
        `mkdir "$GEMINI_CLI_HOME/.gemini" && echo '${JSON.stringify(gemini)}' > "$GEMINI_CLI_HOME/.gemini/settings.json"`,
        `export GOOGLE_GEMINI_BASE_URL=${url} GEMINI_API_KEY=${key} GEMINI_CLI_TRUST_WORKSPACE=true`,
        "gemini --approval-mode yolo -m gemini-2.5-pro -p 'Hello'",
      ],
    },
    {
      cli: 'opencode',
      lines: [
        `export OPENCODE_CONFIG_CONTENT='${JSON.stringify(opencode)}'`,
        "opencode run --auto --title Hello 'Hello'",
      ],
    },
    {
      cli: 'qwen',
      lines: [
        `export OPENAI_BASE_URL=${url}/v1 OPENAI_API_KEY=${key} OPENAI_MODEL=scripted-1`,
        "qwen --yolo --auth-type openai 'Hello'",
      ],
    },
    {
      cli: 'pi',
      lines: [
        'export PI_CODING_AGENT_DIR="$(mktemp -d)" PI_OFFLINE=1',
        `echo '${JSON.stringify(pi)}' > "$PI_CODING_AGENT_DIR/models.json"`,
        "pi -p --provider lab --model scripted-1 'Hello'",
      ],
    },
  ];
}
