import { describe, expect, it } from 'vitest'
import { findEmoji, listEmoji } from './emoji.ts'
import { showLabel, withoutEmoji } from './show.ts'
import { fillStepLabel } from './step-label.ts'

describe('showLabel', () => {
  it.each([
    [':jest: Unit', '🃏 Unit'],
    [':pipeline:', '🔀'],
    [':wave: Hello :+1:', '👋 Hello 👍'],
    [':docker::react:', '🐳⚛️'],
    [':wave::skin-tone-3:', '👋🏼'],
    [':flag-de: Deutsch', '🇩🇪 Deutsch'],
    [':sidekiq: Workers', 'Ⓢ Workers'],
    ['fix(:art:): x', 'fix(🎨): x'],
  ])('shows %s as %s', (typed, shown) => {
    expect(showLabel(typed)).toBe(shown)
  })

  it.each(['at 10:30:00', 'a:b:c', ':no-such-name: x', ':constructor:', '::', ''])('leaves %s', (text) => {
    expect(showLabel(text)).toBe(text)
  })
})

describe('withoutEmoji', () => {
  it('leaves out emoji, unless there is nothing else', () => {
    expect(withoutEmoji(':wave: Hello')).toBe('Hello')
    expect(withoutEmoji(':wave:')).toBe('👋')
    expect(withoutEmoji('at 10:30:00 :no-such-name:')).toBe('at 10:30:00 :no-such-name:')
  })
})

describe('the names of emoji', () => {
  it('are unique, and each has a character', () => {
    const names = listEmoji().flatMap((emoji) => emoji.names)
    expect(names.filter((name) => !/^[a-z0-9_+-]{1,60}$/.test(name))).toEqual([])
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
    expect(names.filter((name) => /^[\u0000-\u007f]*$/.test(findEmoji(name) ?? ''))).toEqual([])
  })

  it('have those of the tools that pipelines name', () => {
    const tools =
      'jest npm eslint react terraform go pipeline robot_face docker kubernetes aws github rust python ruby node nodejs ' +
      'java gradle maven yarn pnpm typescript javascript postgres redis rspec rubocop pytest cypress playwright helm ' +
      'ansible bazel buildkite linux mac windows android ios swift kotlin php golang cargo dotnet elixir vite webpack'
    expect(tools.split(' ').filter((name) => findEmoji(name) === null)).toEqual([])
  })
})

describe('fillStepLabel', () => {
  it.each([
    ['Unit %n of %t', ['Unit 0 of 4', 'Unit 1 of 4', 'Unit 2 of 4', 'Unit 3 of 4'], 'Unit 0–3 of 4'],
    ['T %N/%t', ['T 1/2', 'T 2/2'], 'T 1–2/2'],
    ['Test {{matrix.os}}', ['Test linux', 'Test macos'], 'Test linux, macos'],
    [
      '{{ matrix.os }} on {{matrix.node}}',
      ['a on 1', 'a on 5', 'a on 7', 'a on 9', 'b on 1'],
      'a, b on 1, 5, …',
    ],
    ['For {{matrix}}', ['For x'], 'For x'],
    ['Plain', ['Plain', 'Plain'], 'Plain'],
    ['100%next', ['100%next'], '100%next'],
    ['Unit %n of %t', [], 'Unit … of …'],
    ['Unit %n', ['Renamed', 'Other'], 'Unit …'],
  ])('shows %s with the values of its jobs', (label, jobLabels, shown) => {
    expect(fillStepLabel(label, jobLabels)).toBe(shown)
  })

  it('takes no longer for labels that are made to be slow', () => {
    const label = '%n'.repeat(150)
    const jobs = Array.from({ length: 500 }, (_, index) => `${index}`.repeat(100))
    expect(fillStepLabel(label, jobs)).toContain('…')
  })
})
