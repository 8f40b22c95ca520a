import { describe, expect, it } from 'vitest'
import { messages, oneStep } from '../../../test/reading.ts'

const refuseField = (field: string) => messages(`[{block: b, fields: [${field}]}]`)

describe('block and input steps', () => {
  it('read their attributes', () => {
    expect(
      oneStep(
        '{block: Ship?, prompt: p, submit: s, blocked_state: failed, allowed_teams: [a, b], branches: main}',
      ),
    ).toEqual({
      kind: 'block',
      key: null,
      label: 'Ship?',
      dependsOn: null,
      allowDependencyFailure: false,
      condition: null,
      branches: 'main',
      prompt: 'p',
      submit: 's',
      fields: [],
      blockedState: 'failed',
      allowedTeams: ['a', 'b'],
    })
    expect(oneStep('{input: ~, allowed_teams: a}')).toMatchObject({
      kind: 'input',
      blockedState: 'passed',
      allowedTeams: ['a'],
    })
  })

  it.each([
    'blocked_state: open',
    `allowed_teams: [${'a,'.repeat(101)}]`,
    'skip: true',
    'fields: {}',
    'soft_fail: true',
    'agents: {}',
  ])('refuse %s', (attribute) => {
    expect(messages(`[{block: b, ${attribute}}]`)).toHaveLength(1)
  })
})

describe('fields', () => {
  it('E28: reads text and select definitions', () => {
    const step = oneStep(
      '{block: release, fields: [{text: Hex, key: hex, format: "[0-9a-f]+"}, {select: Regions, key: r, multiple: true, required: false, options: [{label: EU, value: eu}, {label: US, value: us}]}]}',
    )
    expect(step).toMatchObject({
      fields: [
        {
          kind: 'text',
          key: 'hex',
          label: 'Hex',
          hint: null,
          required: true,
          default: null,
          format: '[0-9a-f]+',
        },
        {
          kind: 'select',
          key: 'r',
          label: 'Regions',
          required: false,
          multiple: true,
          default: [],
          options: [
            { label: 'EU', value: 'eu', hint: null, required: null },
            { label: 'US', value: 'us', hint: null, required: null },
          ],
        },
      ],
    })
  })

  it('normalises the line ends of a default', () => {
    expect(oneStep('{block: b, fields: [{text: T, key: t, default: "a\\r\\nb\\rc"}]}')).toMatchObject({
      fields: [{ default: 'a\nb\nc' }],
    })
  })

  it.each([
    ['{key: k}', 'a field must have either `text` or `select`'],
    ['{text: a, select: b, key: k}', 'a field must have either `text` or `select`'],
    ['x', 'a field cannot be "x"'],
    ['{text: a}', 'the field needs a `key`'],
    ['{text: a, key: "a b"}', '`key` cannot be "a b"'],
    [
      '{text: a, key: k, format: "(?=x)"}',
      '`format` is not a usable regular expression: lookahead is not supported',
    ],
    ['{text: a, key: k, options: []}', '`options` is not an attribute of a text field'],
    ['{select: a, key: k}', 'a select field needs at least one option'],
    ['{select: a, key: k, options: []}', 'a select field needs at least one option'],
    ['{select: a, key: k, options: [x]}', 'an option cannot be "x"'],
    ['{select: a, key: k, options: [{label: x}]}', 'an option needs a `label` and a `value`'],
    [
      '{select: a, key: k, options: [{label: x, value: y}], default: z}',
      'the default "z" is not among the options',
    ],
    ['{select: a, key: k, options: [{label: x, value: y}], default: [y]}', '`default` cannot be a list'],
    ['{text: a, key: k}, {text: b, key: k}', 'two fields have the key "k"'],
  ])('refuses %s', (field, message) => {
    expect(refuseField(field)).toEqual([message])
  })
})
