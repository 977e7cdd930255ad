import { useEffect } from 'react';

/** Runs a function for a key, unless somebody types into a field or holds a modifier. */
export function useKeys(keys: Record<string, (() => void) | undefined>): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const place = event.target instanceof HTMLElement ? event.target : null;
      const isTyping = place !== null && (place.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(place.tagName));
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      // Enter and Space on a button or a link are its own.
      if ((event.key === 'Enter' || event.key === ' ') && place?.closest('a, button, summary')) return;
      const act = keys[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  });
}
