/** How long a CLI waits for the hook. The hook itself gives up long before, with a reason. */
const hookTimeoutSeconds = 60;

/**
 * Claude settings with a hook before every tool call. A failing hook lets the call through unless it exits with 2, so
 * every failure exits with 2; newer versions also get `onFailure`, which covers a hang. Hooks are explicitly enabled,
 * since other settings of the person or the repository could disable them.
 */
export function hookSettings(command: string): string {
  const hook = { type: 'command', command: `${command} || exit 2`, timeout: hookTimeoutSeconds, onFailure: 'block' };
  return JSON.stringify({ disableAllHooks: false, hooks: { PreToolUse: [{ matcher: '*', hooks: [hook] }] } });
}
