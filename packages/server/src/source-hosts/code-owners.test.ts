import { describe, expect, it } from 'vitest'
import { findCodeOwners, type CodeOwnersDialect } from './code-owners.ts'

const ownersOf = (dialect: CodeOwnersDialect, text: string, file: string) =>
  findCodeOwners({ dialect, text, files: [file] })[0]?.join(' ')

describe('patterns of GitHub', () => {
  it.each([
    ['*', 'a.js', true],
    ['*', 'deep/down/a.js', true],
    ['*.js', 'deep/down/a.js', true],
    ['*.js', 'a.jsx', false],
    ['/build/logs/', 'build/logs/deep/a.log', true],
    ['/build/logs/', 'deep/build/logs/a.log', false],
    ['docs/*', 'docs/getting-started.md', true],
    ['docs/*', 'docs/build-app/troubleshooting.md', false],
    ['docs/*', 'deep/docs/a.md', false],
    ['/*', 'a.js', true],
    ['/*', 'docs/a.js', false],
    ['apps/', 'apps/a.js', true],
    ['apps/', 'deep/apps/down/a.js', true],
    ['apps/', 'apps', false],
    ['/docs/', 'docs/a.md', true],
    ['/docs/', 'deep/docs/a.md', false],
    ['/apps/github', 'apps/github/down/a.js', true],
    ['/apps/github', 'apps/github2/a.js', false],
    ['apps/github', 'deep/apps/github/a.js', false],
    ['**/logs', 'build/logs/a.log', true],
    ['**/logs', 'logs/deep/a.log', true],
    ['**/logs', 'deeply/nested/logs', true],
    ['apps/**/test', 'apps/test/a.js', true],
    ['apps/**/test', 'apps/one/two/test/a.js', true],
    ['apps/**', 'apps/one/two/a.js', true],
    ['**/**/a.js', 'one/a.js', true],
    ['foo**bar', 'foo-bar', true],
    ['foo**bar', 'foo/bar', false],
    ['a?.js', 'ab.js', true],
    ['a?.js', 'a/.js', false],
    ['README', 'deep/README', true],
    ['readme', 'README', false],
    ['[ab].js', 'a.js', false],
    ['[ab].js', '[ab].js', true],
    ['{a,b}.js', 'a.js', false],
    ['path\\ with\\ spaces/', 'path with spaces/a.js', true],
    ['\\*.js', 'a.js', false],
  ])('%s and %s: %s', (pattern, file, isOwned) => {
    expect(ownersOf('github', `${pattern} @acme/web\n`, file)).toBe(isOwned ? '@acme/web' : '')
  })

  it('let the last one decide, also where it names nobody', () => {
    const text = '* @all\n/apps/ @apps ada@example.com # since 2020\r\n/apps/github\n'
    expect(ownersOf('github', text, 'a.js')).toBe('@all')
    expect(ownersOf('github', text, 'apps/a.js')).toBe('@apps ada@example.com')
    expect(ownersOf('github', text, 'apps/github/a.js')).toBe('')
  })

  it.each([
    ['a comment', '#*.js @b'],
    ['a negation', '!*.js @b'],
    ['an owner that cannot be one', '*.js b'],
    ['no pattern', '   '],
  ])('are ignored in a line with %s', (_, line) => {
    expect(ownersOf('github', `* @a\n${line}\n`, 'a.js')).toBe('@a')
  })
})

describe('patterns of GitLab', () => {
  it.each([
    ['*', 'deep/a.rb', true],
    ['README.md', 'deep/README.md', true],
    ['internal/README.md', 'docs/internal/README.md', true],
    ['/internal/README.md', 'docs/internal/README.md', false],
    ['/docs/', 'docs/deep/a.md', true],
    ['/docs/', 'deep/docs/a.md', false],
    ['docs/', 'deep/docs/a.md', true],
    ['/docs', 'docs/a.md', false],
    ['/docs/*', 'docs/a.md', true],
    ['/docs/*', 'docs/deep/a.md', false],
    ['/docs/**', 'docs/deep/a.md', false],
    ['/docs/**/*.md', 'docs/a.md', true],
    ['/docs/**/*.md', 'docs/one/two/a.md', true],
    ['/docs/**/index.md', 'docs/one/two/index.md', true],
    ['path\\ with\\ spaces/', 'path with spaces/a.md', true],
    ['\\#file.rb', '#file.rb', true],
  ])('%s and %s: %s', (pattern, file, isOwned) => {
    expect(ownersOf('gitlab', `${pattern} @web\n`, file)).toBe(isOwned ? '@web' : '')
  })

  const text = `
* @all
[Documentation] @docs
*.md
/docs/ @writers
^[Database][2]
*.sql @database @@maintainer nobody
/docs/schema.md @database
[documentation]
README.md @readers
`

  it.each([
    ['a.rb', '@all'],
    ['a.md', '@all @docs'],
    ['docs/a.md', '@all @writers'],
    ['docs/schema.md', '@all @writers @database'],
    ['README.md', '@all @readers'],
    ['one/a.sql', '@all @database @@maintainer'],
  ])('count in each section: %s', (file, owners) => {
    expect(ownersOf('gitlab', text, file)).toBe(owners)
  })

  it('exclude files from a section, whatever follows', () => {
    const excluding = '* @all\n[Ruby]\n*.rb @ruby\n!/config/**/*.rb\n/config/a.rb @ruby\n'
    expect(ownersOf('gitlab', excluding, 'a.rb')).toBe('@all @ruby')
    expect(ownersOf('gitlab', excluding, 'config/a.rb')).toBe('@all')
  })
})

it('answers for hostile patterns', () => {
  const text = `${'**/a*/'.repeat(200)}b @a\n${'*'.repeat(1500)}b @b\n${'{'.repeat(1500)} @c\n\\ @d\n`
  expect(ownersOf('github', text, `${'a/'.repeat(400)}c`)).toBe('')
})
