import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '../../../../testbed/src/any-character.ts'
import { checkCondition } from './check.ts'
import { evaluateCondition } from './evaluate.ts'
import type { ConditionFacts } from './facts.ts'
import { textAt } from './json-pointer.ts'

const FACTS: ConditionFacts = {
  build: {
    id: 'b-1',
    number: 5,
    branch: 'main',
    commit: 'abc123',
    tag: null,
    message: 'Fix it\n\n[skip tests]',
    state: 'running',
    blockedState: null,
    fixed: null,
    source: 'webhook',
    author: { id: 'u-1', name: 'Ada', email: 'ada@example.org', teams: ['ops', 'web'] },
    creator: { id: null, name: 'Bob', email: null, teams: null, verified: true },
    pullRequest: null,
  },
  pipeline: { id: 'p-1', slug: 'app', defaultBranch: 'main', repository: null },
  organization: { id: 'o-1', slug: 'acme' },
  env: (name) => ({ SUITE: 'full', EMPTY: '', BUILDKITE_BRANCH: 'main', N: '7' })[name],
}
const PULL_REQUEST: ConditionFacts = {
  ...FACTS,
  build: {
    ...FACTS.build,
    pullRequest: {
      id: '12',
      baseBranch: 'main',
      repository: 'git@example.org:acme/app.git',
      isFork: false,
      isDraft: false,
      labels: ['full-ci', 'docs'],
      label: null,
    },
  },
}

function evaluate(source: string, facts = FACTS): boolean | string {
  const answer = evaluateCondition(source, facts)
  return answer.ok ? answer.value : answer.message
}

function check(source: string, where: 'step' | 'build-notify' | 'step-notify' | 'filter' = 'step'): string {
  const checked = checkCondition(source, where)
  return checked.ok ? 'ok' : checked.message
}

describe('evaluateCondition', () => {
  it.each([
    ['true', true],
    ['null', false],
    ['build.branch == "main"', true],
    ["build.branch == 'main'", true],
    ['build.branch != "main"', false],
    ['build.number == 5', true],
    ['build.fixed', false],
    ['!build.fixed', true],
    ['!build.fixed == true', true],
    ['build.fixed || build.creator.verified', true],
    ['build.fixed && true', false],
    ['true || false && false', true],
    ['(true || false) && false', false],
    ['!true || true', true],
    ['build.message =~ /skip TESTS/i', true],
    ['build.message !~ /^skip/', true],
    ['build.tag =~ /x/', false],
    ['build.tag !~ /x/', true],
    ['build.author.teams includes "ops"', true],
    ['build.author.teams includes /^w/', true],
    ['build.author.teams includes null', false],
    ['["a", "b"] includes build.branch', false],
    ['["main", "b"] includes build.branch', true],
    ['build.author.teams == ["ops", "web"]', true],
    ['build.author.teams != ["ops"]', true],
    ['[] == []', true],
    ['build.state == "started"', true],
    ['build.blocked_state == null', true],
    ['build.source == "webhook" ? build.branch == "main" : false', true],
    ['false ? true : false ? false : true', true],
    ['build.branch == (true ? "main" : "dev")', true],
    ['build.branch == pipeline.default_branch', true],
    ['organization.slug == "acme" // a comment', true],
    ['// first\nbuild.branch\n  == "main"', true],
    ['pipeline.started_failing', false],
  ])('%s is %s', (source, expected) => {
    expect(evaluate(source)).toBe(expected)
  })

  it.each([
    ['$SUITE == "full"', true],
    ['${SUITE} == "full"', true],
    ['$NOPE == null', true],
    ['"$NOPE" == ""', true],
    ['${NOPE:-x} == "x"', true],
    ['${EMPTY:-x} == "x"', true],
    ['${EMPTY-x} == ""', true],
    ['${SUITE:+on} == "on"', true],
    ['${NOPE+on} == ""', true],
    ['${SUITE:0:2} == "fu"', true],
    ['${NOPE:-${SUITE}!} == "full!"', true],
    ['"a${SUITE}b $$ \\n\\x41\\101\\s\\e" == "afullb $ \\n\\x41A \\e"', true],
    ['\'$SUITE\' == "\\$SUITE"', true],
    ["'it\\'s \\\\ \\n' == \"it's \\\\ \\\\n\"", true],
    ['build.source == "$NOPE"', false],
    ['${NOPE?no suite} == "x"', '$NOPE: no suite'],
    ['${EMPTY:?} == "x"', '$EMPTY: not set'],
    ['env("N") == "7"', true],
    ['build.env("BUILDKITE_BRANCH") == "main"', true],
  ])('expands variables: %s is %j', (source, expected) => {
    expect(evaluate(source)).toBe(expected)
  })

  it('E32: edge cases that hold', () => {
    expect(evaluate('build.tag != null')).toBe(false)
    expect(evaluate('!build.pull_request.draft')).toBe(true)
    expect(evaluate('build.creator.teams includes "ops"')).toBe(false)
    expect(evaluate('build.number == 5')).toBe(true)
    expect(evaluate('build.env("NOPE") == null')).toBe(true)
    expect(evaluate('env("NOPE") == ""')).toBe(true)
    expect(evaluate('build.pull_request.id == "12"', PULL_REQUEST)).toBe(true)
    expect(evaluate('build.pull_request.labels includes "full-ci"', PULL_REQUEST)).toBe(true)
    expect(evaluate('build.branch =~ /n$/')).toBe(true)
  })

  it('sees the step only when it notifies about one', () => {
    const step = {
      id: 's',
      key: 'k',
      label: null,
      type: 'command',
      state: 'finished',
      outcome: 'hard_failed',
    }
    expect(evaluate('step.outcome == "hard_failed"', { ...FACTS, step })).toBe(true)
    expect(evaluate('step.outcome == "hard_failed"')).toContain('only known to the notifications of a step')
  })

  it('does not evaluate what a short circuit leaves out', () => {
    expect(evaluate('true || ${NOPE?x} == "y"')).toBe(true)
  })
})

describe('checkCondition', () => {
  it('E32: edge cases that are refused', () => {
    expect(check('build.state == "started_failing"')).toContain('is never the value')
    expect(check('"passed" == build.state')).toContain('must stand on the left')
    expect(check('build.number == "5"')).toBe('cannot compare a number with a string')
  })

  it.each([
    ['', 'unexpected end of the condition'],
    ['build.branch', 'a condition must be true or false, this is a string'],
    ['5', 'a condition must be true or false, this is a number'],
    ['/x/', 'a regular expression may only stand to the right'],
    ['build.branch == /x/', 'a regular expression may only stand to the right'],
    ['build.brnch == "x"', 'unknown variable `build.brnch`, did you mean `build.branch`?'],
    ['constructor == "x"', 'unknown variable `constructor`'],
    ['build.meta("x") == "y"', 'unknown function `build.meta`'],
    ['env("BUILDKITE_JOB_ID") == "x"', 'BUILDKITE_JOB_ID is not known to conditions'],
    ['$BUILDKITE_JOB_ID == "x"', 'BUILDKITE_JOB_ID is not known to conditions'],
    ['env("$X") == "y"', 'takes the plain name of a variable'],
    ['env("a b") == "y"', 'is not the name of a variable'],
    ['env(build.branch) == "y"', 'takes the plain name of a variable'],
    ['build.branch =~ "x"', 'the right of `=~` must be a regular expression'],
    ['build.number =~ /5/', 'the left of `=~` must be a string, this is a number'],
    ['build.state =~ /run/', 'the left of `=~` must be a string, this is a variable with a fixed list'],
    ['build.branch includes "x"', 'the left of `includes` must be an array'],
    ['build.author.teams includes 5', 'the right of `includes` must be a string'],
    ['[1] == [1]', 'an array holds strings only'],
    ['true && "x" == "x" && build.branch', '`&&` needs something true or false'],
    ['true || build.branch', '`||` needs something true or false'],
    ['!build.branch', '`!` needs something true or false'],
    ['true ? true : "x"', 'both outcomes of `?` must be alike'],
    ['build.source == build.branch', 'expected one of ui'],
    ['build.source == "UI"', 'did you mean "ui"?'],
    ['build.branch =~ /(?<=x)/', 'lookbehind is not supported'],
    ['build.branch =~ /x/g', 'the only flag'],
    ['build.branch =~ /x', 'has no closing `/`'],
    ['build.branch == "x', 'has no closing quote'],
    ["build.branch == 'x", 'has no closing quote'],
    ['build.branch == "\\q"', 'is not an escape'],
    ['build.branch = "x"', 'unexpected `=`'],
    ['build.branch == "x" &', 'unexpected `&`'],
    ['(true', 'unexpected end of the condition, expected `)`'],
    ['true true', 'unexpected `true`'],
    ['$ == 1', 'expected a variable name after `$`'],
    ['${X == 1', 'has no closing brace'],
    ['${X=1} == "1"', 'does not use one of the known forms'],
    ['step.key == "x"', 'only known to the notifications of a step'],
    ['1.5 == 1', 'unexpected `1.5`'],
    ['99999999999999999999 == 1', 'the number is too large'],
  ])('refuses %j', (source, message) => {
    expect(check(source)).toContain(message)
  })

  it('points at the offending part', () => {
    expect(checkCondition('true && build.brnch == "x"', 'step')).toMatchObject({ ok: false, offset: 8 })
  })

  it('knows the step in its notifications only', () => {
    expect(check('step.type == "command"', 'step-notify')).toBe('ok')
    expect(check('step.type == "command"', 'build-notify')).not.toBe('ok')
    expect(check('build.source_event == "push"', 'filter')).toBe('ok')
  })

  it('refuses nesting and length without bound', () => {
    expect(check('('.repeat(5000))).toContain('nested too deeply')
    expect(check(`${'!'.repeat(5000)}true`)).toContain('nested too deeply')
    expect(check(Array.from({ length: 5000 }, () => '1').join('=='))).toContain('too many parts')
    expect(check(' '.repeat(30_000))).toContain('too long')
  })
})

describe('any condition', () => {
  it('is answered without an exception, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), (source) => {
        expect(typeof evaluateCondition(source, FACTS).ok).toBe('boolean')
      }),
      { numRuns: 2000 },
    )
  })

  it('is answered alike by the checker and the evaluator, made of its own words', () => {
    const names = 'build.branch build.tag build.number build.state build.author.teams build.fixed env("A")'
    const values = 'true null 5 "x" \'y\' "passed" "$SUITE" $A ${A:-x} /m/ /[/i'
    const signs = '== != =~ !~ includes && || ! ? : ( ) [ ] , //'
    const word = fc.constantFrom('\n', ...`${names} ${values} ${signs}`.split(' '))
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        const source = words.join(' ')
        expect(evaluateCondition(source, FACTS).ok).toBe(checkCondition(source, 'step').ok)
      }),
      { numRuns: 5000 },
    )
  })
})

describe('the payload of a trigger', () => {
  const facts = (payload: unknown) => ({ ...FACTS, payload: (pointer: string) => textAt(payload, pointer) })
  it.each([
    ['payload("/a") == "x"', true],
    ['payload("/b/0/c~1d") == "2"', true],
    ["payload('/b/1') == null", true],
    ['payload("/b") == null', true],
    ['payload("/toString") == null', true],
    ['payload("/a") =~ /^X$/i && build.branch != "nowhere"', true],
    ['payload("/t") == "true"', true],
    ['payload("/a") == "y"', false],
  ])('%s', (condition, value) => {
    expect(evaluateCondition(condition, facts({ a: 'x', b: [{ 'c/d': 2 }], t: true }))).toEqual({
      ok: true,
      value,
    })
  })
  it('is not known elsewhere, and takes a JSON pointer', () => {
    expect(checkCondition('payload("/a") == "x"', 'step')).toMatchObject({ ok: false })
    expect(checkCondition('payload("a") == "x"', 'trigger')).toMatchObject({ ok: false })
    expect(checkCondition('payload("/a$B") == "x"', 'trigger')).toMatchObject({ ok: false })
    expect(checkCondition("payload('/a$B') == 'x'", 'trigger')).toEqual({ ok: true })
  })
})
