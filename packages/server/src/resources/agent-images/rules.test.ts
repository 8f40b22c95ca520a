import { describe, expect, it } from 'vitest'
import { hasFrom } from './rules.ts'

describe('hasFrom', () => {
  it.each([
    'FROM alpine',
    'RUN true\nfrom alpine AS build',
    '  \tFrom alpine',
    'RUN true\r\nFROM alpine',
    'FROM \\\n alpine',
    'FROM\\\n alpine',
    'FROM',
    '# RUN a \\\nFROM alpine',
    'RUN a\\\n\n# note\n b\nFROM alpine',
  ])('finds one in %j', (dockerfile) => {
    expect(hasFrom(dockerfile)).toBe(true)
  })

  it.each([
    '',
    'RUN echo FROM here',
    '# FROM alpine',
    'RUN echo \\\nFROM here',
    'COPY --from=0 a b',
    'FROMAGE x',
  ])('finds none in %j', (dockerfile) => {
    expect(hasFrom(dockerfile)).toBe(false)
  })
})
