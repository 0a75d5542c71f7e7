// Markdown as elements: what each text becomes in a browser, and that no text becomes more than its grammar.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { demo, finish, launch } from './kit.mjs';

let page;
before(async () => {
  page = await (await launch()).newPage();
  await page.goto(demo);
});
after(finish);

/** The HTML of texts as the console draws them, without what every link and paragraph has. */
const drawn = (texts) => page.evaluate(async (all) => {
  const { href } = document.querySelector('link[href$="/markdown.js"]');
  const [{ Markdown }, { render, h }] = await Promise.all([import(href), import(href.replace('markdown', 'preact'))]);
  const keys = new Set(['TX', 'A_B']);
  return all.map((text) => {
    const root = document.createElement('div');
    render(h(Markdown, { text, keys }), root);
    return root.firstChild.innerHTML.replaceAll(/ (dir="auto"|tabindex="0"|title="[^"]*"|target="_blank"|rel="noopener noreferrer nofollow")/g, '');
  });
}, texts);

const link = (address, text = address) => `<a href="${address}">${text}</a>`;
const ticket = (key, text = key) => link(`./#search?q=${key}&amp;open=${key}`, text);

test('blocks', async () => {
  const cases = {
    'one\ntwo\n\nthree': '<p>one\ntwo</p><p>three</p>',
    '## Steps ##\ntext': '<p class="heading"><strong>Steps</strong></p><p>text</p>',
    'Steps:\n1. a\n2) b': '<p>Steps:</p><ol start="1"><li><p>a</p></li><li><p>b</p></li></ol>',
    '- a\n  - b\n    - c\n- d\n\n  more of d\n\nnext': '<ul><li><p>a</p><ul><li><p>b</p><ul><li><p>c</p></li></ul></li></ul></li><li><p>d</p><p>more of d</p></li></ul><p>next</p>',
    '1. a\n   ```\n   x\n   ```\n2. b': '<ol start="1"><li><p>a</p><pre><code>x</code></pre></li><li><p>b</p></li></ol>',
    '* a\n+ [x] b\n- [ ] c': '<ul><li><p>a</p></li><li><p>☑ b</p></li><li><p>☐ c</p></li></ul>',
    'In\n1986. it was': '<p>In\n1986. it was</p>', // no list
    '> a\n> > b\nc': '<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote><p>c</p>',
    '```java\na < b **c**\n\n  d\n```\ne': '<pre><code>a &lt; b **c**\n\n  d</code></pre><p>e</p>',
    '~~~\n```\n': '<pre><code>```\n</code></pre>', // never closed
    '| a | b |\n|---|:-:|\n| `1` | x \\| y |\nc': '<div class="table"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td><code>1</code></td><td>x | y</td></tr></tbody></table></div><p>c</p>',
    'a | b\nc | d': '<p>a | b\nc | d</p>',
    'a\n\n---\nb': '<p>a</p><hr><p>b</p>',
    '    at Foo.bar(Foo.java:1)\n\tat Foo': '<p>    at Foo.bar(Foo.java:1)\n    at Foo</p>',
    '': '',
  };
  assert.deepEqual(await drawn(Object.keys(cases)), Object.values(cases));
});

test('within a line', async () => {
  const cases = {
    '**a *b* c** ~~d~~ _f_': '<p><strong>a <em>b</em> c</strong> <s>d</s> <em>f</em></p>',
    'snake_case_name 2*3*4 *.js *.ts ** __init__.py': '<p>snake_case_name 2*3*4 *.js *.ts ** __init__.py</p>',
    '**never closed _nor this': '<p>**never closed _nor this</p>',
    '`a * b` ``c ` d`` `e': '<p><code>a * b</code> <code>c ` d</code> `e</p>',
    '\\*a\\* C:\\temp \\\\host\\x': '<p>*a* C:\\temp \\\\host\\x</p>',
    'see https://a.example/x_y_z(1)?q=1&r=*2*. (http://b.example)': `<p>see ${link('https://a.example/x_y_z(1)?q=1&amp;r=*2')}*. (${link('http://b.example/', 'http://b.example')})</p>`,
    '**https://a.example/b** <https://a.example/c>': `<p><strong>${link('https://a.example/b')}</strong> ${link('https://a.example/c')}</p>`,
    '[the *page*](https://a.example/b "title") ![shot](https://a.example/s.png)': `<p>${link('https://a.example/b', 'the <em>page</em>')} ${link('https://a.example/s.png', 'shot')}</p>`,
    'mail ada.l@example.com, not a@b': `<p>mail ${link('mailto:ada.l@example.com', 'ada.l@example.com')}, not a@b</p>`,
    'TX-400, tx-5. a_b-7 UTF-8 XTX-1 TX-1-2 /TX-3 [old](TX-402)': `<p>${ticket('TX-400')}, ${ticket('tx-5')}. ${ticket('a_b-7')} UTF-8 XTX-1 TX-1-2 /TX-3 ${ticket('TX-402', 'old')}</p>`,
  };
  assert.deepEqual(await drawn(Object.keys(cases)), Object.values(cases));
});

test('only http, https and mailto are links, and nothing becomes HTML', async () => {
  const addresses = ['javascript:alert(1)', 'JAVASCRIPT:alert(1)', 'java&#115;cript:alert(1)', 'vbscript:x', 'data:text/html,<script>alert(1)</script>', 'file:///etc/passwd', '//evil.example', '/x', '#x', 'blob:https://a.example/1', 'TX-400\u0000'];
  const texts = addresses.flatMap((a) => [`[a](${a})`, `![a](${a})`, `<${a}>`, `[a](<${a}>)`, a]);
  texts.push('<img src=x onerror=alert(1)>', '<a href="javascript:alert(1)">x</a>', '[<img src=x onerror=alert(1)>](https://a.example)', '| <script>alert(1)</script> |\n|---|\n| x |', '`<b>`', '# <i>x</i>', '[a](https://a.example/"onclick="alert(1))', '[a](https://a.example "x" onclick="alert(1)")', '&lt;script&gt;');
  const { wrong, links } = await page.evaluate(async (all) => {
    const { href } = document.querySelector('link[href$="/markdown.js"]');
    const [{ Markdown }, { render, h }] = await Promise.all([import(href), import(href.replace('markdown', 'preact'))]);
    const root = document.createElement('div');
    render(h('main', null, all.map((text) => h(Markdown, { text, keys: new Set(['TX']) }))), root);
    const wrong = [...root.firstChild.querySelectorAll('*')].filter((e) => !/^(P|STRONG|EM|S|CODE|PRE|UL|OL|LI|BLOCKQUOTE|HR|DIV|TABLE|THEAD|TBODY|TR|TH|TD|A)$/.test(e.nodeName)
      || e.getAttributeNames().some((name) => !['class', 'start', 'dir', 'tabindex', 'title', 'target', 'rel', 'href'].includes(name))
      || (e.nodeName === 'A' && !['http:', 'https:', 'mailto:'].includes(e.protocol))).map((e) => e.outerHTML);
    return { wrong, links: [...new Set([...root.querySelectorAll('a[href^=http]')].map((a) => `${a.target} ${a.rel}`))] };
  }, texts);
  assert.deepEqual(wrong, []);
  assert.deepEqual(links, ['_blank noopener noreferrer nofollow']);
});

// Where the time grew with the square of the length, these would not end.
test('200,000 characters of anything are drawn', async () => {
  const parts = ['*a', '**', '_a ', '`', '``a`', '[', '[a](', '[a](x', '> ', '>', '- ', '- a\n', '  - a\n', '|', '|-', '|a\n|-\n', '#', '# #', 'a', 'a.', 'a@', 'a-', 'A-1 ', ' ', '\n', '\\', '<http://', 'http://a(', '~~~\n', '- - ', '1. ', '--', '\t-'];
  const html = await drawn(parts.map((part) => part.repeat(200_000 / part.length)));
  assert.ok(html.every((text) => text.length > 0 || text === ''));
});
