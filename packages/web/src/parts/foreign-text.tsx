import { bytes } from '@pawl/present/amount';
import { printable, printableLine } from '@pawl/present/text';
import { useState } from 'react';
import { linkParts } from './links.ts';

/** Longer texts are cut until somebody asks for all of it: one line of a megabyte would stop the browser. */
const shownCharacters = 20_000;

/** Foreign text in several lines: harmless, with links to web addresses only. */
export function ForeignText({ text, className = '' }: { text: string; className?: string }) {
  const [whole, setWhole] = useState(false);
  const plain = printable(text);
  const isCut = !whole && plain.length > shownCharacters;
  const shown = isCut ? plain.slice(0, shownCharacters) : plain;
  return (
    <div className={`wrap-anywhere whitespace-pre-wrap ${className}`}>
      {linkParts(shown).map(({ text: part, href }, index) =>
        href === null ? (
          part
        ) : (
          // The parts of one text never change their order.
          // oxlint-disable-next-line react/no-array-index-key
          <a key={index} href={href} target="_blank" rel="noopener noreferrer" className="text-accent underline">
            {part}
            <span aria-label=" (opens another site)">↗</span>
          </a>
        ),
      )}
      {isCut && (
        <button type="button" className="ml-1 text-accent underline" onClick={() => setWhole(true)}>
          … show all ({bytes(plain.length)})
        </button>
      )}
    </div>
  );
}

/** Foreign text in one line, at most so long. */
export function line(text: string, characters = 300): string {
  const plain = printableLine(text);
  return plain.length > characters ? `${plain.slice(0, characters)}…` : plain;
}
