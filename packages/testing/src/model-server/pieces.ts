import { modelServerLimits } from './limit.ts';

/** Splits a text into pieces for a stream, never inside a character. */
export function piecesOf(text: string): string[] {
  const characters = Array.from(text);
  const { pieces, pieceCharacters } = modelServerLimits;
  const length = Math.max(pieceCharacters, Math.ceil(characters.length / pieces));
  const result: string[] = [];
  for (let start = 0; start < characters.length; start += length) {
    result.push(characters.slice(start, start + length).join(''));
  }
  return result;
}
