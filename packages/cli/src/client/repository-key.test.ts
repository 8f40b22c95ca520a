import { describe, expect, it } from 'vitest'
import { repositoryKey } from './repository-key.ts'

const keyOf = (url: string) => repositoryKey(url, (path) => (path.startsWith('/') ? path : `/here/${path}`))

describe('the key of a repository', () => {
  it.each([
    'git@github.com:Acme/Web.git',
    'github.com:acme/web',
    'ssh://git@github.com/acme/web.git',
    'ssh://git@github.com:22/acme/web',
    'ssh://git@ssh.github.com:443/acme/web.git',
    'git+ssh://git@github.com/acme/web.git',
    'https://github.com/acme/web',
    'https://github.com/acme/web.git/',
    'https://ada:secret@github.com/acme/web.git',
    'https://www.github.com/acme/web',
    'git://github.com/acme/web.git',
    'HTTPS://GitHub.com/acme/web.git',
    ' https://github.com/acme/web.git ',
  ])('is the same for %s', (url) => {
    expect(keyOf(url)).toBe('github.com/acme/web')
  })

  it.each([
    [
      'https://bitbucket.example.com/scm/app/web.git',
      'ssh://git@bitbucket.example.com:7999/app/web.git',
      'bitbucket.example.com/app/web',
    ],
    [
      'https://acme@dev.azure.com/acme/shop/_git/web',
      'git@ssh.dev.azure.com:v3/acme/shop/web',
      'dev.azure.com/acme/shop/web',
    ],
    ['http://git.example.com:3000/a/b.git', 'ssh://git@git.example.com:2222/a/b', 'git.example.com/a/b'],
    [
      'https://gitlab.com/group/sub/web.git',
      'ssh://git@altssh.gitlab.com:443/group/sub/web.git',
      'gitlab.com/group/sub/web',
    ],
    ['file:///srv/git/web.git', '/srv/git/web', '/srv/git/web'],
    ['ssh://git@[::1]:22/a/b.git', 'git@[::1]:a/b.git', '[::1]/a/b'],
  ])('is the same for %s and %s', (one, other, key) => {
    expect([keyOf(one), keyOf(other)]).toEqual([key, key])
  })

  it('keeps different repositories apart', () => {
    const urls = [
      'git@github.com:acme/web.git',
      'git@github.com:acme/web2.git',
      'git@github.com:other/web.git',
      'git@gitlab.com:acme/web.git',
      '/srv/acme/web.git',
      '../acme/web.git',
    ]
    expect(new Set(urls.map(keyOf)).size).toBe(urls.length)
  })
})
