import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { homeAt } from '../../src/node/home.ts';

/** Unix sockets have room for 104 bytes with the final NUL on the strictest system. */
const socketRoomBytes = 103;

afterEach(() => vi.unstubAllEnvs());

describe('the home', () => {
  test('it is the given directory, made absolute', () => {
    expect(homeAt('/x/../y/').root).toBe('/y');
    expect(homeAt('relative').root).toBe(join(process.cwd(), 'relative'));
  });

  test('it is PAWL_HOME, else .pawl in the person’s home', () => {
    vi.stubEnv('HOME', '/home/somebody');
    vi.stubEnv('PAWL_HOME', '/elsewhere');
    expect(homeAt().root).toBe('/elsewhere');
    vi.stubEnv('PAWL_HOME', '');
    expect(homeAt().root).toBe('/home/somebody/.pawl');
  });

  test('everything but a displaced socket is inside it, each in its own place', () => {
    const { root, agentWorkdirs, proxySocket, ...places } = homeAt('/short');
    for (const place of Object.values(places)) expect(dirname(place)).toBe(root);
    // A sandbox shows its agent this directory with the sockets, and not the rest of the home.
    expect(dirname(proxySocket)).toBe(places.door);
    // The roster takes everything below the worktrees for Pawl's own.
    expect(dirname(agentWorkdirs)).toBe(places.worktrees);
    expect(new Set(Object.values(places)).size).toBe(Object.values(places).length);
  });
});

describe('the socket', () => {
  const long = `/${'deep/'.repeat(40)}home`;

  test('it is in the home if it fits', () => {
    expect(homeAt('/short').socket).toBe('/short/pawl.sock');
    const longest = `/${'x'.repeat(100 - '//pawl.sock'.length)}`;
    expect(homeAt(longest).socket).toBe(`${longest}/pawl.sock`);
    expect(homeAt(`${longest}x`).socket).not.toContain('xxx');
  });

  test('room is counted in bytes', () => {
    expect(homeAt(`/${'é'.repeat(60)}`).socket).not.toContain('é');
  });

  test('a long home has a short one in a directory of this user', () => {
    const { socket } = homeAt(long);
    expect(Buffer.byteLength(socket)).toBeLessThanOrEqual(socketRoomBytes);
    expect(dirname(socket)).toMatch(new RegExp(`/pawl-${process.getuid?.()}$`));
  });

  test('it is the same at every call and in every environment, and differs between homes', () => {
    const { socket } = homeAt(long);
    vi.stubEnv('TMPDIR', `/${'t'.repeat(200)}`);
    expect(homeAt(long).socket).toBe(socket);
    expect(homeAt(`${long}/`).socket).toBe(socket);
    expect(homeAt(`${long}2`).socket).not.toBe(socket);
  });
});
