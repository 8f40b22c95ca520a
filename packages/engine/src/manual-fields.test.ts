import { describe, expect, it } from 'vitest'
import { checkAnswers } from './manual-fields.ts'
import type { Field } from './steps/types.ts'

type Text = Extract<Field, { kind: 'text' }>
type Select = Extract<Field, { kind: 'select' }>

function text(given: Partial<Text> = {}): Text {
  return {
    kind: 'text',
    key: 't',
    label: 'T',
    hint: null,
    required: true,
    default: null,
    format: null,
    ...given,
  }
}

function select(given: Partial<Select> = {}): Select {
  const options = ['eu', 'us'].map((value) => ({ label: value, value, hint: null, required: null }))
  return {
    kind: 'select',
    key: 's',
    label: 'S',
    hint: null,
    required: true,
    multiple: false,
    default: [],
    options,
    ...given,
  }
}

function problems(field: Field, answer: string | string[]): string[] {
  const checked = checkAnswers([field], { [field.key]: answer })
  return checked.ok ? [] : checked.problems.map(({ message }) => message)
}

describe('text fields', () => {
  it('fall back to their default, then to nothing', () => {
    expect(checkAnswers([text({ default: 'x' })], {})).toEqual({ ok: true, values: { t: 'x' } })
    expect(checkAnswers([text({ required: false })], { t: '' })).toEqual({ ok: true, values: { t: '' } })
    expect(checkAnswers([text()], {})).toMatchObject({ ok: false })
  })

  it('keep line feeds only', () => {
    expect(checkAnswers([text()], { t: 'a\r\nb\rc' })).toEqual({ ok: true, values: { t: 'a\nb\nc' } })
  })

  it('match their format from end to end', () => {
    expect(problems(text({ format: '[0-9]+|x' }), '12')).toEqual([])
    expect(problems(text({ format: '[0-9]+|x' }), '12a')).toEqual(['does not have the expected format'])
    expect(problems(text(), ['a'])).toEqual(['takes a single text'])
  })
})

describe('select fields', () => {
  it('take one option, or several where the field allows it', () => {
    expect(problems(select(), 'eu')).toEqual([])
    expect(problems(select(), ['eu', 'us'])).toEqual(['takes a single option'])
    expect(checkAnswers([select({ multiple: true })], { s: ['us', 'eu'] })).toEqual({
      ok: true,
      values: { s: 'us\neu' },
    })
  })

  it('refuse what is not among the options', () => {
    expect(problems(select(), 'jp')).toEqual(['"jp" is not one of the options'])
  })

  it('fall back to their default', () => {
    expect(checkAnswers([select({ default: ['us'] })], {})).toEqual({ ok: true, values: { s: 'us' } })
    expect(checkAnswers([select()], {})).toMatchObject({ ok: false })
  })
})

describe('all fields together', () => {
  it('name every problem, and keys that no field has', () => {
    const checked = checkAnswers([text(), select()], { s: 'jp', constructor: 'x' })
    expect(checked).toMatchObject({ ok: false })
    expect(checked.ok ? [] : checked.problems.map(({ key }) => key)).toEqual(['constructor', 't', 's'])
  })
})
