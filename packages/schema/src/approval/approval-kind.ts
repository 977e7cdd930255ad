/** The subject of a request. */
export const approvalKinds = ['command', 'file', 'network', 'tool', 'question', 'plan'] as const;
export type ApprovalKind = (typeof approvalKinds)[number];

/** The tool of a request to reach a host that the proxy refused. No CLI asks for it, and none waits for the answer. */
export const connectionTool = 'Network';

export function isConnection({ kind, tool }: { kind: ApprovalKind; tool: string }): boolean {
  return kind === 'network' && tool === connectionTool;
}
