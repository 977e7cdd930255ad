import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';

/** Takes a slot for a stream, and returns the function that frees it. */
export type OpenStream = () => () => void;

/** Bounds the open streams of some routes; `refusal` is the message once `limits.streams` are open. */
export function streamSlots(refusal: (open: number) => string, hint?: string): OpenStream {
  let open = 0;
  return () => {
    if (open >= limits.streams)
      throw new PawlError('unavailable', refusal(open), hint === undefined ? undefined : { hint });
    open++;
    return () => void open--;
  };
}
