/** What a request is about. */
export const approvalKinds = ['command', 'file', 'network', 'tool', 'question', 'plan'] as const;
export type ApprovalKind = (typeof approvalKinds)[number];
