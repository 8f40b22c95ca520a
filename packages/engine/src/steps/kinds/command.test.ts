import { describe, expect, it } from 'vitest'
import { messages, mustRead, oneCommand, oneStep, refuseCommand, warnings } from '../../../test/reading.ts'
import { readPipeline } from '../document.ts'

describe('the command of a step', () => {
  it('joins a list into one script', () => {
    expect(oneStep('{commands: [a, "b c", 1]}')).toMatchObject({ command: 'a\nb c\n1' })
    expect(oneStep('{command: true}')).toMatchObject({ command: 'true' })
  })

  it('may be blank, or absent beside plugins', () => {
    expect(oneStep('{command: ""}')).toMatchObject({ command: null })
    expect(oneStep('{command: ~, label: x}')).toMatchObject({ command: null })
    expect(oneStep('{plugins: [a#v1]}')).toMatchObject({ command: null })
  })

  it('refuses commands that are not text', () => {
    expect(messages('[{command: [[a]]}]')).toEqual(['`command` cannot contain a list'])
    expect(messages('[{type: command, command: {a: b}}]')).toEqual(['`command` cannot be a map'])
  })
})

describe('targeting', () => {
  it('reads maps and lists of rules, under both names', () => {
    expect(oneCommand('agents: {queue: big, os: ~, n: 1}').agents).toEqual(['queue=big', 'os=', 'n=1'])
    expect(oneCommand('agents: ["queue=big", docker]').agents).toEqual(['queue=big', 'docker'])
    expect(oneCommand('agent_query_rules: ["queue=big"]').agents).toEqual(['queue=big'])
  })

  it('keeps the rules of the document that the step does not name', () => {
    const [step] = mustRead(
      '{agents: [queue=a, os=b, os=c, x=y], steps: [{command: a, agents: [os=z, new=1]}]}',
    ).steps
    expect(step).toMatchObject({ agents: ['queue=a', 'os=z', 'x=y', 'new=1'] })
  })

  it('refuses other shapes', () => {
    expect(refuseCommand('agents: big')).toHaveLength(1)
    expect(refuseCommand('agents: [=x]')).toHaveLength(1)
    expect(refuseCommand('agents: {queue: [a]}')).toHaveLength(1)
  })
})

describe('skip', () => {
  it('E15: false, "" and absent run; true and a reason do not', () => {
    expect(oneCommand('skip: ""').skip).toBe(false)
    expect(oneCommand('skip: false').skip).toBe(false)
    expect(oneCommand('label: x').skip).toBe(false)
    expect(oneCommand('skip: true').skip).toBe('skipped')
    expect(oneCommand('skip: why').skip).toBe('why')
  })

  it('E15: refuses a reason of 71 characters', () => {
    expect(oneCommand(`skip: "${'ä'.repeat(70)}"`).skip).toHaveLength(70)
    expect(refuseCommand(`skip: "${'ä'.repeat(71)}"`)).toEqual(['the reason given in `skip` is too long'])
    expect(refuseCommand('skip: [a]')).toEqual(['`skip` cannot be a list'])
  })
})

describe('soft_fail', () => {
  it('reads booleans and lists of exit statuses', () => {
    expect(oneCommand('soft_fail: true').softFail).toBe(true)
    expect(oneCommand('label: x').softFail).toBe(false)
    expect(
      oneCommand('soft_fail: [{exit_status: 42}, {exit_status: "*"}, {exit_status: -1}]').softFail,
    ).toEqual([42, '*', -1])
  })

  it.each(['maybe', '[1]', '[{exit_status: x}]', '[{exit: 1}]', '{exit_status: 1}'])(
    'refuses %s',
    (value) => {
      expect(refuseCommand(`soft_fail: ${value}`)).not.toEqual([])
    },
  )
})

describe('concurrency', () => {
  it('needs a limit and a group together', () => {
    expect(oneCommand('concurrency: 2, concurrency_group: g').concurrency).toEqual({
      limit: 2,
      group: 'g',
      method: 'ordered',
    })
    expect(
      oneCommand('concurrency: 2, concurrency_group: g, concurrency_method: eager').concurrency?.method,
    ).toBe('eager')
    expect(refuseCommand('concurrency: 1')).toEqual(['`concurrency` needs a `concurrency_group`'])
    expect(refuseCommand('concurrency_group: g')).toEqual(['`concurrency_group` needs a `concurrency`'])
    expect(refuseCommand('concurrency_method: eager')).toHaveLength(1)
    expect(refuseCommand('concurrency: 0, concurrency_group: g')).toHaveLength(1)
    expect(refuseCommand(`concurrency: 1, concurrency_group: ${'g'.repeat(201)}`)).toEqual([
      '`concurrency_group` is too long',
    ])
  })
})

describe('retry', () => {
  it('fills the defaults of a rule in', () => {
    const any = { exitStatus: '*', signal: '*', signalReason: '*', limit: 2 }
    expect(oneCommand('retry: {automatic: true}').retry.automatic).toEqual([any])
    expect(oneCommand('retry: {automatic: false}').retry.automatic).toEqual([])
    expect(oneCommand('retry: {automatic: {limit: 0}}').retry.automatic).toEqual([{ ...any, limit: 0 }])
    expect(oneCommand('label: x').retry).toEqual({
      automatic: [],
      manual: { allowed: true, permitOnPassed: false, reason: null },
    })
  })

  it('E18: reads statuses, signals and reasons', () => {
    const rules =
      '[{exit_status: -1, signal_reason: stack_error, limit: 0}, {exit_status: [1, "2"], signal: [sigterm, KILL, none]}]'
    expect(oneCommand(`retry: {automatic: ${rules}}`).retry.automatic).toEqual([
      { exitStatus: [-1], signal: '*', signalReason: ['stack_error'], limit: 0 },
      { exitStatus: [1, 2], signal: ['TERM', 'KILL', 'NONE'], signalReason: '*', limit: 2 },
    ])
  })

  it('reads manual rules', () => {
    expect(oneCommand('retry: {manual: false}').retry.manual.allowed).toBe(false)
    expect(
      oneCommand('retry: {manual: {allowed: false, permit_on_passed: true, reason: no}}').retry.manual,
    ).toEqual({
      allowed: false,
      permitOnPassed: true,
      reason: 'no',
    })
  })

  it.each([
    'true',
    '{always: true}',
    '{automatic: [1]}',
    '{automatic: {limit: 11}}',
    '{automatic: {limit: -1}}',
    '{automatic: {exit_status: 256}}',
    '{automatic: {exit_status: x}}',
    '{automatic: {signal_reason: bored}}',
    '{automatic: {attempts: 1}}',
    '{manual: {allow: true}}',
    '{manual: sometimes}',
  ])('refuses %s', (value) => {
    expect(refuseCommand(`retry: ${value}`)).toHaveLength(1)
  })
})

describe('plugins', () => {
  it('keeps order, names and settings', () => {
    expect(oneCommand('plugins: [a#v1, {b#v2: {k: [1, 3.10]}}, {./c: ~}]').plugins).toEqual([
      { source: 'a#v1', config: null },
      { source: 'b#v2', config: { k: [1, '3.10'] } },
      { source: './c', config: null },
    ])
    expect(oneCommand('plugins: {a#v1: ~, b#v2: {x: 1}}').plugins).toHaveLength(2)
  })

  it('takes several plugins in one item, and warns of the usual mistake of indentation', () => {
    const text = 'steps:\n  - plugins:\n      - docker#v5:\n        image: node\n'
    expect(warnings(text)).toEqual(['a plugin in the list has one key, but `image` stands beside it'])
    expect(oneCommand('plugins: [{a#v1: {k: 1}, b#v2: ~}]').plugins).toEqual([
      { source: 'a#v1', config: { k: 1 } },
      { source: 'b#v2', config: null },
    ])
  })

  it.each(['a', '[1]', '[""]', '[{}]', '[[a]]'])('refuses %s', (value) => {
    expect(refuseCommand(`plugins: ${value}`)).toHaveLength(1)
  })
})

describe('what a document sets for its steps', () => {
  const merged = (root: string, step: string) => {
    const [first] = mustRead(`{${root}, steps: [{command: a, ${step}}]}`).steps
    if (first?.kind !== 'command') throw new Error('No command step was read.')
    return first
  }

  it('is beaten by the step for priority and image', () => {
    expect(merged('priority: 1, image: a', 'label: x')).toMatchObject({ priority: 1, image: 'a' })
    expect(merged('priority: 1, image: a', 'priority: -2, image: b')).toMatchObject({
      priority: -2,
      image: 'b',
    })
  })

  it('reads the long form that uploaders make of secrets', () => {
    const long = 'secrets: [{key: A}, {key: b, environment_variable: C}]'
    expect(merged('secrets: []', long).secrets).toEqual({ A: 'A', C: 'b' })
  })

  it('is united with the step for secrets', () => {
    expect(merged('secrets: [A, B]', 'secrets: {B: c, D: e}').secrets).toEqual({ A: 'A', B: 'c', D: 'e' })
  })

  it('is united with the step for a cache of the same name only', () => {
    expect(
      merged('cache: {paths: [a], name: n, size: 40g}', 'cache: {paths: [b, a], name: n}').cache,
    ).toEqual({ name: 'n', paths: ['a', 'b'], sizeGb: 40 })
    expect(merged('cache: {paths: [a], name: n, size: 40g}', 'cache: b').cache).toEqual({
      name: null,
      paths: ['b'],
      sizeGb: 20,
    })
    expect(merged('cache: [a]', 'cache: b').cache).toEqual({ name: null, paths: ['a', 'b'], sizeGb: 20 })
    expect(merged('cache: a', 'cache: false').cache).toBeNull()
    expect(merged('cache: a', 'label: x').cache).toEqual({ name: null, paths: ['a'], sizeGb: 20 })
  })

  it('is merged key by key for the checkout', () => {
    const root = 'checkout: {depth: 5, lfs: true, flags: {clone: -a, fetch: -b}, sparse: {paths: [a]}}'
    const step =
      'checkout: {depth: 1, flags: {fetch: -c}, sparse: {paths: "b"}, ssh_secret: KEY, commit_verification: off}'
    expect(merged(root, step).checkout).toEqual({
      skip: null,
      submodules: null,
      lfs: true,
      depth: 1,
      flags: { clone: '-a', fetch: '-c' },
      sparsePaths: ['b'],
      sshSecret: 'KEY',
      commitVerification: 'off',
    })
  })

  it.each([
    'priority: high',
    'secrets: ~',
    'secrets: [1a]',
    'secrets: {BUILDKITE_X: a}',
    'secrets: [BUILDKITE_TOKEN]',
    'cache: true',
    'cache: {name: n}',
    'cache: {paths: []}',
    'cache: {paths: a, size: 5g}',
    'cache: {paths: a, size: 50}',
    'cache: {paths: a, name: -x}',
    'checkout: true',
    'checkout: {depth: 0}',
    'checkout: {ssh_secret: KEY}',
    'checkout: {flags: {push: x}}',
    'checkout: {commit_verification: always}',
    'agents: x',
    'image: [a]',
  ])('refuses %s', (root) => {
    expect(messages(`{${root}, steps: [{command: a}]}`)).toHaveLength(1)
  })
})

describe('other attributes', () => {
  it('reads patterns of test results, one or a list', () => {
    expect(oneCommand('test_results: "report-*.xml"').testResults).toEqual(['report-*.xml'])
    expect(oneCommand('test_results: [a/*.xml, "b.xml; c.xml"]').testResults).toEqual([
      'a/*.xml',
      'b.xml',
      'c.xml',
    ])
    expect(oneCommand('test_results: []')).not.toHaveProperty('testResults')
    expect(oneCommand('test_results: " ; "')).not.toHaveProperty('testResults')
  })

  it('refuses test results that are no patterns', () => {
    expect(refuseCommand('test_results: {junit: a}')).toEqual(['`test_results` cannot be a map'])
    expect(refuseCommand('test_results: [[a]]')).toEqual(['`test_results` cannot contain a list'])
    expect(refuseCommand('test_results: "a["')).toEqual(['`test_results` has the malformed pattern "a["'])
    expect(messages('[{wait: ~, test_results: a}]')).toHaveLength(1)
    expect(messages('[{command: a, matrix: [x], test_results: "{{matrix.os}}.xml"}]')).toEqual([
      '`{{matrix.os}}` names no dimension of the matrix',
    ])
  })

  it('joins artifact paths with semicolons', () => {
    expect(oneCommand('artifact_paths: [a/*, "b;c"]').artifactPaths).toBe('a/*;b;c')
    expect(oneCommand('artifacts: a').artifactPaths).toBe('a')
    expect(oneCommand('artifact_paths: []').artifactPaths).toBeNull()
  })

  it('reads a timeout under both names', () => {
    expect(oneCommand('timeout: 5').timeoutMinutes).toBe(5)
    expect(oneCommand('timeout_in_minutes: "5"').timeoutMinutes).toBe(5)
    for (const value of ['0', '-1', '1.5', 'soon', 'true'])
      expect(refuseCommand(`timeout: ${value}`)).toHaveLength(1)
  })

  it('reads env values as text', () => {
    expect(oneCommand('env: {A: 1, B: true, C: ~, D: 010, E: 1e3}').env).toEqual({
      A: '1',
      B: 'true',
      C: '',
      D: '010',
      E: '1e3',
    })
  })

  it('keeps a signature whole or refuses it', () => {
    expect(oneCommand('signature: {algorithm: EdDSA, signed_fields: [command], value: x}').signature).toEqual(
      {
        algorithm: 'EdDSA',
        signedFields: ['command'],
        value: 'x',
        asWritten: {},
      },
    )
    expect(refuseCommand('signature: {value: x}')).toHaveLength(1)
    expect(refuseCommand('signature: x')).toHaveLength(1)
  })

  it('keeps the values that a signature covers as they are written', () => {
    const signature = 'signature: {algorithm: EdDSA, signed_fields: [command], value: x}'
    const matrix =
      '{setup: {os: [a, b]}, adjustments: [{with: {os: a}, skip: true}, {with: {os: b}, soft_fail: [{exit_status: 1}]}]}'
    const step = oneCommand(
      `${signature}, matrix: ${matrix}, checkout: {skip: true}, secrets: {Z: first, A: second}`,
    )
    expect(step.signature?.asWritten).toEqual({
      matrix: {
        setup: { os: ['a', 'b'] },
        adjustments: [
          { with: { os: 'a' }, skip: true },
          { with: { os: 'b' }, soft_fail: [{ exit_status: 1 }] },
        ],
      },
      checkout: { skip: true },
      secrets: [
        { key: 'first', environment_variable: 'Z' },
        { key: 'second', environment_variable: 'A' },
      ],
    })
    const listed = oneCommand(`${signature}, secrets: [one, {key: two, environment_variable: TWO}]`)
    expect(listed.signature?.asWritten?.secrets).toEqual([
      { key: 'one', environment_variable: 'one' },
      { key: 'two', environment_variable: 'TWO' },
    ])
  })

  it('refuses matrix beside parallelism', () => {
    expect(refuseCommand('matrix: [1], parallelism: 2')).toEqual([
      '`matrix` and `parallelism` cannot be combined',
    ])
  })
})

describe('notify', () => {
  it('reads services of a build and of a step', () => {
    const text =
      '{notify: [{email: a@b}, {slack: {channels: ["#a"], message: m}, if: build.state == "failed"}, github_check], steps: [{command: a, notify: [{slack: "#x"}]}]}'
    const document = mustRead(text)
    expect(document.notify).toEqual([
      { service: 'email', settings: 'a@b', condition: null },
      {
        service: 'slack',
        settings: { channels: ['#a'], message: 'm' },
        condition: 'build.state == "failed"',
      },
      { service: 'github_check', settings: null, condition: null },
    ])
    expect(document.steps).toMatchObject([{ notify: [{ service: 'slack', settings: '#x' }] }])
  })

  it.each([
    'x',
    '[x]',
    '[{}]',
    '[{if: "true"}]',
    '[{slak: "#x"}]',
    '[{slack: "#x", webhook: y}]',
    '[{slack: {message: m}}]',
    '[{slack: ~}]',
    '[{webhook: [a]}]',
    '[{github_check: x}]',
  ])('refuses %s', (value) => {
    expect(messages(`{notify: ${value}, steps: [wait]}`)).toHaveLength(1)
  })

  it('refuses on a step what only builds have', () => {
    for (const service of ['email', 'webhook', 'pagerduty_change_event']) {
      expect(refuseCommand(`notify: [{${service}: x}]`)).toHaveLength(1)
    }
  })

  it('only warns about a condition that is wrong, because it silences nothing but itself', () => {
    expect(warnings('{notify: [{slack: "#x", if: nope}], steps: [wait]}')).toEqual([
      'this notification will never be sent, its condition is not valid: unknown variable `nope`',
    ])
    expect(warnings('[{command: a, notify: [{slack: "#x", if: step.outcome == "passed"}]}]')).toEqual([])
  })
})

describe('abuse case H1: whole numbers', () => {
  const signed = 'a whole number from -2147483648 to 2147483647'
  const positive = 'a whole number from 1 to 2147483647'

  it.each([
    ['priority: N', 'priority', signed],
    ['timeout_in_minutes: N', 'timeout_in_minutes', positive],
    ['parallelism: N', 'parallelism', 'a whole number from 1 to 4000'],
    ['concurrency: N, concurrency_group: g', 'concurrency', positive],
    ['checkout: {depth: N}', 'depth', positive],
    ['soft_fail: [{exit_status: N}]', 'soft_fail', signed],
    ['retry: {automatic: [{exit_status: N}]}', 'exit_status', '"*", -1 or 0 to 255'],
    ['retry: {automatic: [{limit: N}]}', 'limit', 'a whole number from 0 to 10'],
  ])('%s is refused by name, with its range, beyond 32 bits', (attribute, name, range) => {
    for (const value of ['-2147483649', '2147483648', '"2147483648"', '1e300']) {
      const text = `[{command: a, ${attribute.replace('N', value)}}]`
      const read = readPipeline(text, { origin: 'stored', maxBytes: 1000 })
      const [problem, second] = read.ok ? [] : read.problems
      expect(problem?.message).toContain(`\`${name}\` cannot`)
      expect(problem?.expected).toContain(range)
      expect(second).toBeUndefined()
    }
  })

  it('reach to the ends of their ranges', () => {
    expect(oneCommand('priority: -2147483648').priority).toBe(-2_147_483_648)
    expect(oneCommand('timeout_in_minutes: 2147483647').timeoutMinutes).toBe(2_147_483_647)
  })
})
