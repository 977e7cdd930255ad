import * as z from 'zod';

/** Formatting of a text in Tiptap's JSON. */
export type TiptapMark = { type: string; attrs?: Record<string, unknown> | undefined };

/** A node of Tiptap's JSON; nodes and marks that it does not know are read by their content. */
export type TiptapNode = {
  type: string;
  attrs?: Record<string, unknown> | undefined;
  content?: TiptapNode[] | undefined;
  marks?: TiptapMark[] | undefined;
  text?: string | undefined;
};

const attributes = z.record(z.string(), z.unknown()).optional();

export const tiptapSchema: z.ZodType<TiptapNode> = z.lazy(() =>
  z.object({
    type: z.string(),
    attrs: attributes,
    content: z.array(tiptapSchema).optional(),
    marks: z.array(z.object({ type: z.string(), attrs: attributes })).optional(),
    text: z.string().optional(),
  }),
);
