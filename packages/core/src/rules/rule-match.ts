import { PawlError } from '@pawl/schema/error';
import type { RuleEffect } from '@pawl/schema/rule';
import { ruleLimits } from '@pawl/schema/rule';
import { shellWord } from '@pawl/schema/shell-word';
import { canonicalTool } from '../definitions/tool-name.ts';
import { cutText } from '../shorten.ts';
import type { WordPattern } from './command-rule.ts';
import { isLoneStar } from './command-rule.ts';
import type { NetworkName } from './network-rule.ts';
import { isUsualHost, readNetworkName } from './network-rule.ts';
import { isPathTool } from './path-rule.ts';
import { isAssignment, isReservedWord, isRunner } from './runners.ts';
import { parseCommand } from './shell-words.ts';

/** A rule's text, parsed. */
export type RuleMatch =
  | { kind: 'command'; words: WordPattern[] }
  | { kind: 'tool'; tool: string; path: string | null }
  | { kind: 'network'; name: NetworkName };

/** Parses a rule's text. Throws an error that says what is wrong. */
export function parseRule(effect: RuleEffect, text: string): RuleMatch {
  if (text.length > ruleLimits.matchCharacters) {
    throw noRule(text, `it has more than ${ruleLimits.matchCharacters} characters`);
  }
  if (/[\p{Cc}\p{Cf}\p{Cs}]/u.test(text)) throw noRule(text, 'it has a control or invisible character');
  const [, kind = '', rest = ''] = /^\s*(\S+)\s*(.*?)\s*$/su.exec(text) ?? [];
  if (kind === 'command') return readCommand(effect, text, rest);
  if (kind === 'tool') return readTool(effect, text, rest);
  if (kind === 'network') return readNetwork(effect, text, rest);
  throw noRule(text, 'it begins with none of command, tool and network');
}

/** The one spelling of a parsed rule. */
export function ruleText(match: RuleMatch): string {
  if (match.kind === 'command') return `command ${match.words.map(patternText).join(' ')}`;
  if (match.kind === 'tool') return ['tool', match.tool, ...(match.path === null ? [] : [match.path])].join(' ');
  const { host, port } = match.name;
  const name = host.includes(':') ? `[${host}]` : host;
  return `network ${port === null ? name : `${name}:${port}`}`;
}

/** Quotes everything but the wildcards. */
function patternText({ text, stars }: WordPattern): string {
  if (stars.length === 0) return shellWord(text);
  const ends = [...stars, text.length];
  return ends
    .map((end, index) => {
      const part = text.slice(index === 0 ? 0 : (ends[index - 1] ?? 0) + 1, end);
      return part === '' ? '' : shellWord(part);
    })
    .join('*');
}

function readCommand(effect: RuleEffect, text: string, rest: string): RuleMatch {
  const { commands, obstacle } = parseCommand(rest);
  if (obstacle !== null) throw noRule(text, `a rule names one simple command, and this has ${obstacle}`);
  const [words, ...others] = commands;
  const [name] = words ?? [];
  if (words === undefined || name === undefined || others.length > 0)
    throw noRule(text, 'it names more than one command');
  if (name.stars.length > 0 || name.text === '') throw noRule(text, 'the name of the command has a wildcard');
  if (isAssignment(name.text) || isReservedWord(name.text)) throw noRule(text, `${name.text} is not a command`);
  const stars = words.findIndex((word) => word.stars.length > 0);
  if (effect === 'allow' && stars !== -1 && isRunner(words)) {
    throw noRule(
      text,
      `${name.text} may run other commands here, so a rule that allows it must have every word and no *`,
    );
  }
  const match: RuleMatch = {
    kind: 'command',
    words: words.map(({ text: one, stars: at }) => ({ text: one, stars: at })),
  };
  if (words.some((word) => word.text.includes('**') && !isLoneStar(word) && word.stars.length > 1)) {
    throw noRule(text, 'write one * for any words, not **');
  }
  return match;
}

function readTool(effect: RuleEffect, text: string, rest: string): RuleMatch {
  const [, called = '', path = ''] = /^(\S+)(?:\s+(.*))?$/s.exec(rest) ?? [];
  if (!/^(?:[A-Za-z][\w.:-]*|mcp__[\w-]+__\*)$/.test(called)) throw noRule(text, 'it names no tool');
  const tool = wholeServer(canonicalTool(called));
  if (effect === 'allow' && tool === 'Bash') {
    throw noRule(text, 'it would allow every command; name the commands, such as “command npm test”');
  }
  if (effect === 'allow' && tool === 'WebFetch') {
    throw noRule(text, 'it would allow every host; name the hosts, such as “network example.org”');
  }
  if (path === '') return { kind: 'tool', tool, path: null };
  if (!isPathTool(tool)) throw noRule(text, `${tool} has no path`);
  if (path.startsWith('~') || /(^|\/)\.{1,2}(\/|$)/.test(path) || path.includes('//') || path === '/') {
    throw noRule(text, 'a path is absolute or below the worktree, without ~ . and ..');
  }
  return { kind: 'tool', tool, path };
}

/** `mcp__forge` names all tools of that server, as in a definition. */
function wholeServer(tool: string): string {
  return /^mcp__(?!.*__)[^*]+$/.test(tool) ? `${tool}__*` : tool;
}

function readNetwork(effect: RuleEffect, text: string, rest: string): RuleMatch {
  const name = readNetworkName(rest);
  if (name === null) throw noRule(text, 'a name is such as example.org, *.example.org or example.org:443');
  const plain = name.host.replace(/^\*\./, '');
  if (name.host === '*') {
    if (effect === 'allow') throw noRule(text, 'it would allow every host; name the hosts');
  } else if (!isUsualHost(plain)) {
    throw noRule(text, 'a name has letters, digits, - and dots, and one * at its start');
  } else if (plain !== name.host && (!plain.includes('.') || /^[\d.]+$/.test(plain) || plain.includes(':'))) {
    throw noRule(text, 'a * stands before a domain such as *.example.org');
  }
  return { kind: 'network', name };
}

function noRule(text: string, why: string): PawlError {
  return new PawlError('invalid_input', `“${cutText(text, 100)}” is not a rule: ${why}.`, {
    hint: 'A rule is such as “command npm test”, “command npm run *”, “tool Write src/**”, “network *.example.org:443”.',
  });
}
