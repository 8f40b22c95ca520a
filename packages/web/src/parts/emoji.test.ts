import { expect, it } from 'vitest'
import { splitEmoji, withoutEmoji } from './emoji.ts'

it('finds the names of emoji, and leaves times and other text', () => {
  expect(splitEmoji(':wave: Hello :+1:')).toEqual([{ emoji: 'wave' }, ' Hello ', { emoji: '+1' }])
  expect(splitEmoji('at 10:30:00, a:b:c')).toEqual(['at 10:30:00, a:b:c'])
  expect(splitEmoji('')).toEqual([])
})

it('leaves the names of emoji out, unless there is nothing else', () => {
  expect(withoutEmoji(':wave: Hello')).toBe('Hello')
  expect(withoutEmoji(':wave:')).toBe(':wave:')
})
