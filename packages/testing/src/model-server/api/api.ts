import type { Conversation } from '../conversation.ts';
import type { Json } from '../json.ts';
import type { Answer, Fault, Frame, WireFault, Writing } from '../reply.ts';

/** One vendor's format of requests, answers, streams and failures. */
export type Api = {
  name: 'anthropic' | 'responses' | 'chat' | 'gemini';
  /** Parses a request; missing or odd parts are ignored. */
  read(body: Json): Conversation;
  /** The whole answer at once. */
  answer(answer: Answer, writing: Writing): Json;
  /** The same answer as a stream of events. */
  stream(answer: Answer, writing: Writing): Frame[];
  fault(fault: Fault): WireFault;
};
