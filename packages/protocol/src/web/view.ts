import { idSchema } from '@pawl/schema/id';
import { timeSchema } from '@pawl/schema/record';
import * as z from 'zod';

export const webCodeSchema = z.object({
  /** Exchanged once for a session. */
  code: z.string(),
  expiresAt: timeSchema,
  port: z.number().int(),
});
export type WebCode = z.infer<typeof webCodeSchema>;

export const openWebSessionSchema = z.object({ code: z.string().min(1).max(200) });
/** The page sends this key with every request, beside the cookie. */
export const webKeySchema = z.object({ key: z.string() });
export type WebKey = z.infer<typeof webKeySchema>;

const webSessionViewSchema = z.object({
  id: idSchema,
  browser: z.string(),
  createdAt: timeSchema,
  usedAt: timeSchema,
  expiresAt: timeSchema,
  /** The request comes from this session. */
  current: z.boolean(),
});

export const webSessionListSchema = z.object({ sessions: z.array(webSessionViewSchema) });
export type WebSessionList = z.infer<typeof webSessionListSchema>;

/** Without an id: all sessions. */
export const revokeWebSessionsSchema = z.object({ id: z.string().min(1).max(64).optional() });
export const revokedWebSessionsSchema = z.object({ revoked: z.array(idSchema) });
export type RevokedWebSessions = z.infer<typeof revokedWebSessionsSchema>;
