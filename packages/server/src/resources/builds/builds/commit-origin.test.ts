import { describe, expect, it } from 'vitest'
import { isSameRepository } from './commit-origin.ts'

describe('repositories', () => {
  it.each([
    ['git@github.com:acme/demo.git', 'https://github.com/Acme/demo', true],
    ['git@github.com:acme/demo.git', 'git://github.com/acme/demo.git', true],
    ['git@github.com:acme/demo.git', 'https://elsewhere.example.com/acme/demo.git', false],
    ['git@github.com:acme/demo.git', 'https://github.com/stranger/demo.git', false],
    ['http://git.example.com:3000/acme/demo.git', 'http://git.example.com:4000/acme/demo.git', false],
    ['http://git.example.com:3000/acme/demo.git', 'ssh://git@git.example.com:2222/acme/demo', true],
    ['http://git.example.com/acme/demo.git', 'https://git.example.com:443/acme/demo', true],
  ])('%s and %s: the same is %s', (a, b, isSame) => {
    expect(isSameRepository(a, b)).toBe(isSame)
  })
})
