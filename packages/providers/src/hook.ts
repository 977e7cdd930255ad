/** How long a CLI waits for the hook. The hook gives up by itself long before, and says why. */
const hookTimeoutSeconds = 60;

/**
 * Settings, in Claude's shape, that make it ask before every tool. A hook that fails lets the call through unless it ends
 * with 2, so whatever goes wrong ends with 2, and newer versions are told the same in a word of their own, which also
 * holds when it hangs. Hooks are said to be on: other settings of the person or the repository could switch them off.
 */
export function hookSettings(command: string): string {
  const hook = { type: 'command', command: `${command} || exit 2`, timeout: hookTimeoutSeconds, onFailure: 'block' };
  return JSON.stringify({ disableAllHooks: false, hooks: { PreToolUse: [{ matcher: '*', hooks: [hook] }] } });
}
