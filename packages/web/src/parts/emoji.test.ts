import { expect, it } from 'vitest'
import { splitEmoji } from './emoji.ts'

it('finds the names of emoji, and leaves times and other text', () => {
  expect(splitEmoji(':wave: Hello :+1:')).toEqual([{ emoji: 'wave' }, ' Hello ', { emoji: '+1' }])
  expect(splitEmoji('at 10:30:00, a:b:c')).toEqual(['at 10:30:00, a:b:c'])
  expect(splitEmoji('')).toEqual([])
})
