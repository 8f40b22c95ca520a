import { expect, it } from 'vitest'
import { badgeUrl, htmlOf, markdownOf } from './markup.ts'

const base = 'https://ci.example/badges/a.svg'

it('names only what differs from the ordinary look', () => {
  expect(badgeUrl(base, { branch: '', style: 'rounded', theme: 'default' })).toBe(base)
  expect(badgeUrl(base, { branch: 'a/b&c', style: 'square', theme: 'dark' })).toBe(
    `${base}?branch=a%2Fb%26c&style=square&theme=dark`,
  )
})

it('escapes the name for Markdown and for HTML', () => {
  expect(markdownOf('A [b]', base, 'https://ci.example/o/a')).toBe(
    `[![A \\[b\\]](${base})](https://ci.example/o/a)`,
  )
  expect(htmlOf('A "b" <c>', `${base}?branch=x&style=square`, 'https://ci.example/o/a')).toBe(
    `<a href="https://ci.example/o/a"><img src="${base}?branch=x&amp;style=square" alt="A &quot;b&quot; &lt;c&gt;"></a>`,
  )
})
