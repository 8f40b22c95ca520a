import { describe, expect, it } from 'vitest'
import { checkMirrorUrl, slugOf } from './rules.ts'

describe('slugOf', () => {
  it.each([
    ['My  App', 'my-app'],
    ['App (v2.1)!', 'app-v2-1'],
    ['Déploiement', 'deploiement'],
    [':rocket: App', 'rocket-app'],
    ['日本', ''],
    ['---', ''],
    ['x'.repeat(200), 'x'.repeat(100)],
    [`${'x'.repeat(99)} y`, 'x'.repeat(99)],
  ])('%s becomes %s', (name, slug) => {
    expect(slugOf(name)).toBe(slug)
  })
})

describe('checkMirrorUrl', () => {
  it.each([
    'https://git.example.com/app.git',
    'ssh://git@git.example.com/app.git',
    'git://git.example.com/app',
  ])('takes %s', (url) => {
    expect(checkMirrorUrl(url)).toEqual([])
  })

  it.each([
    ['https://user:secret@git.example.com/app.git', 'must not contain credentials'],
    ['https://user@git.example.com/app.git', 'must not contain credentials'],
    ['https://git.example.com/app.git?x=1', 'must not contain a query or a fragment'],
    ['https://git.example.com/app.git#', 'must not contain a query or a fragment'],
    ['file:///etc', 'must be a URL such as https://git.example.com/app.git'],
    ['nowhere', 'must be a URL such as https://git.example.com/app.git'],
  ])('refuses %s', (url, code) => {
    expect(checkMirrorUrl(url)).toEqual([{ field: 'clone_mirror_url', code }])
  })
})
