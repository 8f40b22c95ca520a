import { describe, expect, it } from 'vitest'
import { messages, mustRead, mustRefuse, oneStep } from '../../test/reading.ts'

describe('the form of a step', () => {
  it.each([
    ['wait', 'wait'],
    ['waiter', 'wait'],
    ['block', 'block'],
    ['manual', 'block'],
    ['input', 'input'],
    ['{command: x}', 'command'],
    ['{commands: [x]}', 'command'],
    ['{script: x}', 'command'],
    ['{plugins: [a#v1]}', 'command'],
    ['{wait: ~}', 'wait'],
    ['{waiter: ~}', 'wait'],
    ['{block: b}', 'block'],
    ['{manual: b}', 'block'],
    ['{input: b}', 'input'],
    ['{trigger: x}', 'trigger'],
    ['{group: x, steps: [wait]}', 'group'],
    ['{type: command, command: x}', 'command'],
    ['{type: commands, plugins: [x]}', 'command'],
    ['{type: script, command: x}', 'command'],
    ['{type: wait}', 'wait'],
    ['{type: waiter}', 'wait'],
    ['{type: block}', 'block'],
    ['{type: manual}', 'block'],
    ['{type: input}', 'input'],
    ['{type: trigger, trigger: x}', 'trigger'],
    ['{type: group, steps: [wait]}', 'group'],
    ['{command: {command: x}}', 'command'],
    ['{commands: {command: x}}', 'command'],
    ['{script: {command: x}}', 'command'],
    ['{wait: {continue_on_failure: true}}', 'wait'],
    ['{waiter: {}}', 'wait'],
    ['{block: {block: b}}', 'block'],
    ['{input: {prompt: p}}', 'input'],
    ['{trigger: {trigger: x}}', 'trigger'],
  ])('%s is a %s step', (text, kind) => {
    expect(oneStep(text).kind).toBe(kind)
  })

  it.each([
    ['{label: x}', 'the step is missing a type'],
    ['{}', 'the step is missing a type'],
    ['command', '"command" is not a step'],
    ['{type: deploy, command: x}', 'a step cannot have the type "deploy"'],
    ['{type: [], command: x}', 'a step cannot have the type a list'],
    ['~', 'a step cannot be nothing'],
    ['5', 'a step cannot be the number 5'],
    ['[wait]', 'a step cannot be a list'],
    [
      '{command: {command: x}, label: y}',
      '`label` stands beside `command`, which already holds the whole step',
    ],
    ['{command: x, wait: y}', '`wait` is not an attribute of a command step'],
    ['{type: command}', 'the step has nothing to run'],
    ['{type: trigger}', 'the step does not say which pipeline to trigger'],
    ['{trigger: ""}', '`trigger` cannot be an empty string'],
  ])('refuses %s', (text, message) => {
    expect(messages(`[${text}]`)).toContain(message)
  })

  it.each([
    ['blok', 'block'],
    ['{comand: x}', 'command'],
    ['{type: comand}', 'command'],
    ['{command: x, lable: y}', 'label'],
    ['{command: x, artifact-paths: y}', 'artifact_paths'],
    ['{command: x, timeout_in_minute: 5}', 'timeout_in_minutes'],
    ['{command: x, dependsOn: y}', 'depends_on'],
    ['{command: x, concurency: 1}', 'concurrency'],
    ['{wait: ~, continue_on_fail: true}', 'continue_on_failure'],
    ['{wait: ~, deploy: true}', null],
    ['{trigger: x, build: {meta-data: {}}}', 'meta_data'],
    ['{command: x, retry: {automatik: true}}', 'automatic'],
    ['{command: x, concurrency: 1, concurrency_group: g, concurrency_method: egaer}', 'eager'],
  ])('suggests the nearest name for %s', (text, suggestion) => {
    const [problem] = mustRefuse(`[${text}]`)
    expect(problem?.suggestion ?? null).toBe(suggestion)
    expect(problem?.expected).toBeDefined()
  })

  it('names the step and the place of a problem', () => {
    expect(mustRefuse('steps:\n  - wait\n  - label: test\n    command: x\n    skipp: true\n')).toMatchObject([
      { step: 'step 2 ("test")', line: 5, column: 5, suggestion: 'skip' },
    ])
  })

  it('refuses two names for one attribute', () => {
    expect(messages('[{command: a, commands: [b]}]')).toEqual([
      '`command` and `commands` mean the same; give only one of them',
    ])
  })
})

describe('attributes of every step', () => {
  it('takes the label from the kind, then `label`, then `name`', () => {
    expect(oneStep('{block: a, label: b, name: c}').label).toBe('a')
    expect(oneStep('{block: ~, label: b, name: c}').label).toBe('b')
    expect(oneStep('{wait: hold on}').label).toBe('hold on')
    expect(oneStep('{group: ~, name: c, steps: [wait]}').label).toBe('c')
    expect(oneStep('{command: a, label: ":rocket: b", name: c}').label).toBe(':rocket: b')
    expect(oneStep('{command: a}').label).toBeNull()
  })

  it('reads the key under all of its names', () => {
    for (const name of ['key', 'id', 'identifier'])
      expect(oneStep(`{wait: ~, ${name}: "a-b_c:1.2,3/4"}`).key).toBe('a-b_c:1.2,3/4')
    expect(oneStep('{wait: ~, key: 7}').key).toBe('7')
    expect(oneStep('{wait: ~, key: ~}').key).toBeNull()
  })

  it.each(['01234567-89ab-cdef-0123-456789abcdef', 'a b', 'ä', '', 'x'.repeat(101)])(
    'refuses the key %j',
    (key) => {
      expect(messages(`[{wait: ~, key: "${key}"}]`)).toHaveLength(1)
    },
  )

  it('distinguishes an absent depends_on from an empty one', () => {
    expect(oneStep('{command: a}').dependsOn).toBeNull()
    for (const nothing of ['~', '[]', '""'])
      expect(oneStep(`{command: a, depends_on: ${nothing}}`).dependsOn).toEqual([])
  })

  it('reads every form of depends_on', () => {
    expect(oneStep('{command: a, depends_on: x}').dependsOn).toEqual([{ ref: 'x', allowFailure: null }])
    expect(
      oneStep('{command: a, depends_on: [x, {step: y, allow_failure: true}, {step: z}, x, y]}').dependsOn,
    ).toEqual([
      { ref: 'x', allowFailure: null },
      { ref: 'y', allowFailure: true },
      { ref: 'z', allowFailure: null },
    ])
  })

  it.each([
    '[~]',
    '[[x]]',
    '[{allow_failure: true}]',
    '[{step: x, allow: true}]',
    '[{step: x, allow_failure: maybe}]',
    '01234567-89ab-cdef-0123-456789abcdef',
  ])('refuses depends_on: %s', (value) => {
    expect(messages(`[{command: a, depends_on: ${value}}]`)).toHaveLength(1)
  })

  it('E31: reads branches as one line and refuses them beside `if`', () => {
    expect(oneStep('{command: a, branches: "main  feature/* !feature/beta"}')).toMatchObject({
      branches: 'main feature/* !feature/beta',
    })
    expect(oneStep('{wait: ~, branches: [main, "release/*"]}')).toMatchObject({ branches: 'main release/*' })
    expect(oneStep('{wait: ~, branches: " "}')).toMatchObject({ branches: null })
    expect(messages('[{command: a, branches: main, if: "true"}]')).toEqual([
      '`if` and `branches` cannot be combined',
    ])
  })

  it('takes a blank condition as absent and refuses a wrong one', () => {
    expect(oneStep('{command: a, if: "  "}').condition).toBeNull()
    expect(oneStep('{command: a, if: false}').condition).toBe('false')
    expect(messages('[{command: a, if: build.number == "5"}]')).toEqual([
      '`if` is not a valid condition: cannot compare a number with a string (at character 17)',
    ])
  })
})

describe('a wait step', () => {
  it('knows its own attributes and no others', () => {
    expect(oneStep('{wait: ~, continue_on_failure: "true", key: w}')).toMatchObject({
      continueOnFailure: true,
      key: 'w',
    })
    expect(messages('[{wait: ~, skip: true, notify: []}]')).toHaveLength(2)
    expect(messages('[{wait: [1]}]')).toEqual(['`wait` cannot be a list'])
  })
})

describe('a trigger step', () => {
  it('reads all of its attributes', () => {
    const text =
      '{trigger: child, label: L, async: true, parallelism: 2, skip: why, soft_fail: [{exit_status: 1}], build: {message: m, commit: c, branch: b, env: {N: 1}, meta_data: {v: "1"}}}'
    expect(oneStep(text)).toMatchObject({
      kind: 'trigger',
      pipeline: 'child',
      async: true,
      parallelism: 2,
      skip: 'why',
      softFail: [1],
      build: { message: 'm', commit: 'c', branch: 'b', env: { N: '1' }, metaData: { v: '1' } },
    })
  })

  it.each(['agents: {}', 'timeout_in_minutes: 1', 'retry: {}', 'concurrency: 1', 'command: x', 'env: {}'])(
    'has no %s',
    (attribute) => {
      expect(messages(`[{trigger: x, ${attribute}, type: trigger}]`)).toHaveLength(1)
    },
  )
})

describe('a group', () => {
  it('holds leaf steps of every kind', () => {
    expect(
      oneStep('{group: g, skip: true, steps: [{command: a}, wait, block, input, {trigger: t}]}'),
    ).toMatchObject({
      kind: 'group',
      skip: 'skipped',
      steps: [
        { kind: 'command' },
        { kind: 'wait' },
        { kind: 'block' },
        { kind: 'input' },
        { kind: 'trigger' },
      ],
    })
  })

  it.each([
    ['{group: g}', 'the group has no steps'],
    ['{group: g, steps: []}', 'the group has no steps'],
    ['{group: g, steps: ~}', 'the group has no steps'],
    ['{group: g, steps: [{group: h, steps: [wait]}]}', 'a group cannot stand inside another group'],
    ['{group: g, steps: [wait], branches: main}', '`branches` is not an attribute of a group'],
    ['{group: g, steps: [wait], env: {}}', '`env` is not an attribute of a group'],
    [
      '{group: g, steps: [{command: a, notify: [{email: x}]}]}',
      '`email` can only notify about a whole build or a group, not about a step',
    ],
  ])('E30: refuses %s', (text, message) => {
    expect(messages(`[${text}]`)).toEqual([message])
  })

  it('notifies all services that a build notifies', () => {
    const entries = [
      '{email: dev@example.com, if: step.outcome == "hard_failed"}',
      '{webhook: "https://example.com/"}',
      '{pagerduty_change_event: key}',
      '{slack: "#builds"}',
      '{basecamp_campfire: "https://example.com/"}',
      'github_check',
      '{github_commit_status: {context: tests}}',
    ]
    expect(oneStep(`{group: g, steps: [wait], notify: [${entries.join(', ')}]}`)).toMatchObject({
      notify: [
        { service: 'email', settings: 'dev@example.com', condition: 'step.outcome == "hard_failed"' },
        { service: 'webhook' },
        { service: 'pagerduty_change_event' },
        { service: 'slack' },
        { service: 'basecamp_campfire' },
        { service: 'github_check' },
        { service: 'github_commit_status', settings: { context: 'tests' } },
      ],
    })
  })

  it('passes the defaults of the document on to its steps', () => {
    const document = mustRead('{agents: {queue: q}, priority: 3, steps: [{group: g, steps: [{command: a}]}]}')
    expect(document.steps).toMatchObject([{ steps: [{ agents: ['queue=q'], priority: 3 }] }])
  })
})
