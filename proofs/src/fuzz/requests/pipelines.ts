// Pipelines in YAML: valid ones, and hostile ones.
import type { Dice } from '../../dice.ts'
import { mutate, oddTexts, oddValue, pick } from './values.ts'

const steps: readonly string[] = [
  '- command: turn',
  '- { label: ":hammer: build", command: [make, make test], key: build, timeout_in_minutes: 5 }',
  '- wait',
  '- wait: ~\n  continue_on_failure: true',
  '- block: Release?\n  key: gate\n  fields: [{ text: Name, key: release-name }, { select: Kind, key: kind, options: [{ label: A, value: a }] }]',
  '- input: Name\n  fields: [{ text: Name, key: name, required: false }]',
  '- command: turn\n  matrix: [a, b]\n  label: "{{matrix}}"',
  '- command: echo {{matrix.os}}\n  matrix: { setup: { os: [linux, mac], v: [1, 2] }, adjustments: [{ with: { os: mac, v: 2 }, skip: true }] }',
  '- group: Tests\n  steps: [{ command: unit }, { command: e2e, parallelism: 3 }]',
  '- command: after\n  depends_on: build\n  if: build.branch == "main" && build.message !~ /skip/',
  '- command: once\n  concurrency: 1\n  concurrency_group: fuzz\n  priority: 3',
  '- command: again\n  retry: { automatic: [{ exit_status: "*", limit: 2 }], manual: { allowed: true } }\n  soft_fail: [{ exit_status: 3 }]',
  '- command: plug\n  plugins: [{ docker#v5.0.0: { image: node } }]\n  env: { A: 1, B: "two" }\n  agents: { queue: default }',
  '- trigger: fuzz-none\n  async: true\n  build: { branch: main, env: { A: b } }',
  '- command: told\n  notify: [{ slack: "#builds" }, { email: a@example.com }, { github_commit_status: { context: x } }]',
]

const hostile: readonly ((dice: Dice) => string)[] = [
  () => 'a: &a [x,x,x,x,x,x,x,x,x]\n'.concat(bomb(9), 'steps: [{ command: *i }]'),
  () => 'steps: &s\n  - command: a\n  - group: g\n    steps: *s',
  () => 'steps:\n  - &s { command: a, env: { <<: *s } }',
  () => `steps: ${'['.repeat(2000)}`,
  () => `steps: ${'[{group: g, steps: '.repeat(80)}[]${'}]'.repeat(80)}`,
  () => `steps:\n${'- command: a\n'.repeat(600)}`,
  () => 'steps:\n  - command: a\n    parallelism: 100000',
  () =>
    'steps:\n  - command: a\n    matrix: { setup: { a: [1,2,3,4,5,6,7,8,9,10], b: [1,2,3,4,5,6,7,8,9,10], c: [1,2,3,4,5,6,7,8,9,10] } }',
  () =>
    'steps:\n  - command: a\n    key: k\n    depends_on: l\n  - command: b\n    key: l\n    depends_on: k',
  () => 'steps:\n  - command: a\n    key: k\n    depends_on: k',
  () => 'steps:\n  - command: a\n    key: k\n  - command: b\n    key: k',
  () => 'steps: [{ command: a, if: "((((((((((build.branch))))))))))" }]',
  () => `steps: [{ command: a, if: "${'('.repeat(3000)}1${')'.repeat(3000)}" }]`,
  () => 'steps: [{ command: a, if: "build.message =~ /(a+)+$/" }]',
  () => `steps: [{ command: a, if: 'build.branch == "${'x'.repeat(5000)}"' }]`,
  () => 'steps: !!js/function "function(){}"',
  () => 'steps: !!binary AAAA',
  () => '--- \nsteps: []\n---\nsteps: []',
  () => '%YAML 9.9\n---\nsteps: []',
  () => '? [complex, key]\n: value\nsteps: []',
  () => 'steps: [{ command: a, unknown_key: 1, another: { deep: [1] } }]',
  () => '__proto__: { polluted: true }\nsteps: [{ __proto__: { command: x } }]',
  () => 'constructor: 1\ntoString: 2\nsteps: [{ command: x, env: { __proto__: a, constructor: b } }]',
  () => '\ufeffsteps: []',
  () => 'steps: [{ command: "\\0 \\uD800" }]',
  () => 'steps:\n\t- command: tab',
  () => '42',
  () => 'null',
  () => '',
  () => '# nothing',
  () => '[]',
  () => '{}',
  () => 'steps: {}',
  () => 'steps: "text"',
  () => 'steps: [null, 1, true, [], {}, "wait", "block"]',
  () => '2026-01-01: { x: .nan }\nsteps: [{ command: .inf, timeout_in_minutes: .nan }]',
  () => 'steps: [{ trigger: "../../etc" }]',
  () => `env: { ${Array.from({ length: 3000 }, (_, i) => `K${i}: v`).join(', ')} }\nsteps: []`,
  () => `x: "${'${A:-'.repeat(500)}${'}'.repeat(500)}"\nsteps: [{ command: "${'$$'.repeat(900)}" }]`,
  () => 'steps: [{ command: "${FUZZ?must be set}" }]',
  (dice) => `steps:\n  - command: a\n    label: ${JSON.stringify(pick(dice, oddTexts))}`,
  (dice) => `steps:\n  - command: a\n    ${pick(dice, stepKeys)}: ${JSON.stringify(oddValue(dice))}`,
  (dice) => `${pick(dice, topKeys)}: ${JSON.stringify(oddValue(dice))}\nsteps: [{ command: a }]`,
  (dice) => JSON.stringify(mutate(dice, { steps: [{ command: 'a', key: 'k' }, 'wait', { block: 'b' }] })),
  (dice) => mutateText(dice, validPipeline(dice)),
]

const stepKeys = [
  'agents', 'allow_dependency_failure', 'artifact_paths', 'branches', 'cache', 'cancel_on_build_failing', 'concurrency',
  'concurrency_group', 'concurrency_method', 'depends_on', 'env', 'if', 'if_changed', 'image', 'key', 'label', 'matrix',
  'notify', 'parallelism', 'plugins', 'priority', 'retry', 'secrets', 'signature', 'skip', 'soft_fail', 'test_results',
  'timeout_in_minutes', 'type', 'fields', 'blocked_state', 'steps', 'build', 'async', 'checkout',
] // prettier-ignore

const topKeys = [
  'agents',
  'env',
  'notify',
  'cache',
  'image',
  'secrets',
  'priority',
  'steps',
  'x-anything',
  'checkout',
]

/** Nine aliases of nine aliases and so on. */
function bomb(levels: number): string {
  const names = 'abcdefghijklmnop'
  return Array.from({ length: levels - 1 }, (_, i) => {
    const [from, to] = [names.charAt(i), names.charAt(i + 1)]
    return `${to}: &${to} [${Array.from({ length: 9 }, () => `*${from}`).join(',')}]\n`
  }).join('')
}

function mutateText(dice: Dice, text: string): string {
  const at = dice.between(0, text.length)
  const end = Math.min(text.length, at + dice.between(0, 10))
  return (
    text.slice(0, at) +
    pick(dice, [...oddTexts, '&a ', '*a', ': ', '- ', '{', ']', '!!str ', '|\n']) +
    text.slice(end)
  )
}

export function validPipeline(dice: Dice): string {
  const chosen = steps.filter((_, index) => index === 0 || dice.happens(0.25))
  return `steps:\n${chosen.map((step) => `  ${step.replaceAll('\n', '\n  ')}`).join('\n')}\n`
}

export const hostilePipeline = (dice: Dice): string => pick(dice, hostile)(dice)
