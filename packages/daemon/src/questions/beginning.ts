import { cutBytes } from '@pawl/core/shorten';
import { limits } from '@pawl/schema/limit';

/**
 * The start of a text for a listing, and how many bytes that leaves out: an ellipsis alone could be part of the text.
 */
export function beginningOf(text: string): { question: string; leftOutBytes: number } {
  const bytes = Buffer.byteLength(text);
  if (bytes <= limits.mailBytes) return { question: text, leftOutBytes: 0 };
  const cut = cutBytes(text, limits.mailBytes);
  return { question: cut, leftOutBytes: bytes - Buffer.byteLength(cut.slice(0, -1)) };
}
