/** The name of Pawl's own MCP server in every session. No other server may have it. */
export const ownServer = 'pawl';
