/** The header with the key that a page keeps for its own origin; a cookie alone also reaches other ports of the host. */
export const pageKeyHeader = 'x-pawl-page';
