import { expect, test } from 'vitest';
import { browserCommand } from '../../../src/command/web/open-browser.ts';

test('the system’s own command opens the browser; without a screen there is none', () => {
  expect(browserCommand({}, 'darwin')).toEqual(['open']);
  expect(browserCommand({ DISPLAY: ':0' }, 'linux')).toEqual(['xdg-open']);
  expect(browserCommand({ WAYLAND_DISPLAY: 'wayland-0' }, 'linux')).toEqual(['xdg-open']);
  expect(browserCommand({ WSL_DISTRO_NAME: 'Debian' }, 'linux')).toEqual(['wslview']);
  expect(browserCommand({ SSH_CONNECTION: 'x' }, 'linux')).toBeNull();
});
