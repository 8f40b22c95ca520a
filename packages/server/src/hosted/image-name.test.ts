import { describe, expect, it } from 'vitest'
import { isImageName } from './image-name.ts'

describe('isImageName', () => {
  it.each([
    'alpine',
    'base:1',
    'alpine:3.20',
    'localhost/millrace/a/b:v1',
    'registry.example.com:5000/team/my_tools:V1.2-x',
    `docker.io/library/debian@sha256:${'a'.repeat(64)}`,
  ])('accepts %s', (text) => {
    expect(isImageName(text)).toBe(true)
  })

  it.each([
    '',
    '../containers/json',
    'a/../b',
    'a//b',
    '/a',
    'a?x=1',
    'a#b',
    'a b',
    'a\nRUN b',
    'a%2fb',
    '-a',
    'a:b:c',
    'e',
    'cafe12',
    '0a'.repeat(32),
    `sha256:${'0a'.repeat(32)}:x`,
    'é',
    `${'a/'.repeat(300)}a`,
  ])('refuses %j', (text) => {
    expect(isImageName(text)).toBe(false)
  })
})
