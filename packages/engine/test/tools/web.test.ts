import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { engineLimits } from '../../src/limit.ts';
import { textOfHtml } from '../../src/tools/html-text.ts';
import { readSkills, skillsPrompt, skillTool } from '../../src/tools/skills.ts';
import { openWorkspace } from '../support/workspace.ts';

/** A proxy that answers for every host itself, and the hosts that it was asked for. */
async function openProxy(): Promise<string[]> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://none');
    asked.push(url.href);
    const answers: Record<string, () => void> = {
      '/page': () => void response.setHeader('content-type', 'text/html').end('<p>One</p><script>x</script><b>two</b>'),
      '/text': () => void response.setHeader('content-type', 'text/plain').end('plain <b>'),
      '/moved': () => void response.writeHead(302, { location: 'http://other.test/text' }).end(),
      '/file': () => void response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
      '/loop': () => void response.writeHead(302, { location: '/loop' }).end(),
      '/picture': () => void response.setHeader('content-type', 'image/png').end('x'),
      '/large': () =>
        void response.setHeader('content-type', 'text/plain').end('x'.repeat(engineLimits.fetchBytes + 1)),
    };
    (answers[url.pathname] ?? (() => void response.writeHead(404).end()))();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  vi.stubEnv('HTTP_PROXY', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv('NO_PROXY', '');
  return asked;
}

describe('WebFetch', () => {
  it('shows the text of a page, through the proxy of the session', async () => {
    const asked = await openProxy();
    await using space = await openWorkspace();
    const fetched = (path: string) => space.call('WebFetch', { url: `http://site.test${path}` });
    expect(await fetched('/page')).toEqual({ text: 'http://site.test/page\n\nOne\ntwo', isError: false });
    expect((await fetched('/moved')).text).toBe('http://other.test/text\n\nplain <b>');
    expect(asked).toContain('http://other.test/text');
  });

  it.each([
    ['/file', 'it leads to file:'],
    ['/loop', 'more than 5 other addresses'],
    ['/picture', 'is not a text, but image/png'],
    ['/large', 'more than'],
    ['/missing', 'status 404'],
  ])('says why it cannot show %s', async (path, why) => {
    await openProxy();
    await using space = await openWorkspace();
    const result = await space.call('WebFetch', { url: `http://site.test${path}` });
    expect(result).toMatchObject({ isError: true, text: expect.stringContaining(why) });
  });

  it.each(['file:///etc/passwd', 'ftp://a/b', 'javascript:1', 'not an address'])('refuses %s', async (url) => {
    await using space = await openWorkspace();
    expect(await space.call('WebFetch', { url })).toMatchObject({ isError: true });
  });

  it('reads html without its tags, in time that grows with its length', () => {
    expect(textOfHtml('<h1>A &amp; B</h1><ul><li>x<li>y</ul>&#65;&#x42;&unknown;<!-- c -->')).toBe(
      'A & B\n\n- x\n- y\nAB&unknown;',
    );
    const began = performance.now();
    for (const text of ['<'.repeat(200_000), '<script'.repeat(30_000), '&'.repeat(200_000), '<!--'.repeat(50_000)])
      textOfHtml(text);
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});

describe('capture_screenshot [W2-22]', () => {
  it('shows a picture if there is a browser, and says so if there is none', async () => {
    await using space = await openWorkspace();
    const bin = join(space.outside, 'bin');
    await mkdir(bin);
    vi.stubEnv('PATH', bin);
    const take = () => space.call('capture_screenshot', { url: 'http://127.0.0.1:1/', delay_ms: 5 });
    expect(await take()).toMatchObject({ isError: true, text: expect.stringContaining('There is no browser') });
    const script =
      '#!/bin/sh\nfor word; do case "$word" in --screenshot=*) printf picture > "${word#--screenshot=}";; esac; done\n';
    await writeFile(join(bin, 'chromium'), script, { mode: 0o755 });
    expect(await take()).toMatchObject({
      isError: false,
      images: [{ base64: Buffer.from('picture').toString('base64') }],
    });
    await writeFile(join(bin, 'chromium'), '#!/bin/sh\necho broken >&2\n', { mode: 0o755 });
    expect((await take()).text).toContain('made no picture: broken');
    expect(await space.call('capture_screenshot', { url: 'file:///etc/passwd' })).toMatchObject({ isError: true });
  });
});

describe('skills', () => {
  it('of the project come first; malformed ones and links out of their directory are left out', async () => {
    await using space = await openWorkspace();
    const [project, home] = [join(space.root, '.pawl/skills'), join(space.outside, 'skills')];
    const put = async (directory: string, name: string, text: string) => {
      await mkdir(join(directory, name), { recursive: true });
      await writeFile(join(directory, name, 'SKILL.md'), text);
    };
    await put(project, 'release', '---\nname: release\ndescription: "How to release"\n---\n\nTag it.\n');
    await put(project, 'broken', 'no front matter');
    await put(project, 'nameless', '---\ndescription: Named by its folder\n---\nText');
    await put(home, 'release', '---\nname: release\ndescription: Another\n---\nNo.');
    await put(home, 'own', '---\nname: own\ndescription: Mine\n---\nMine.');
    await symlink(join(home, 'own'), join(project, 'linked'));
    const skills = readSkills([project, home, join(space.root, 'missing')]);
    expect(skills.map(({ name, description }) => [name, description])).toEqual([
      ['nameless', 'Named by its folder'],
      ['release', 'How to release'],
      ['own', 'Mine'],
    ]);
    expect(skillsPrompt(skills)).toContain('- release: How to release');
    expect(skillsPrompt([])).toBe('');
    const tool = skillTool(skills);
    expect((await tool.run({ skill: 'release' }, space.context)).text).toContain('Tag it.');
    expect(await tool.run({ skill: 'x' }, space.context)).toMatchObject({ isError: true });
  });
});
