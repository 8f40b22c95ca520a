import { describe, expect, it } from 'vitest'
import { namesArtifacts, resolveArtifact } from './artifact-links.ts'

const links = new Map([
  ['log/a b.txt', '/v2/one'],
  ['100%.txt', '/v2/two'],
])

describe('artifact:// in annotations', () => {
  it('leads to the artifact of that path, also where Markdown encoded it', () => {
    expect(resolveArtifact('artifact://log/a b.txt', links)).toBe('/v2/one')
    expect(resolveArtifact('artifact://log/a%20b.txt', links)).toBe('/v2/one')
    expect(resolveArtifact('artifact://100%.txt', links)).toBe('/v2/two')
  })

  it('leads nowhere without such an artifact', () => {
    expect(resolveArtifact('artifact://other', links)).toBeUndefined()
    expect(resolveArtifact('artifact://__proto__', links)).toBeUndefined()
  })

  it('leaves other addresses alone', () => {
    for (const address of [null, 'https://example.com', 'artifact:log', '/artifact://x'])
      expect(resolveArtifact(address, links)).toBeNull()
    expect([namesArtifacts('<a href="artifact://x">'), namesArtifacts('<p>')]).toEqual([true, false])
  })
})
