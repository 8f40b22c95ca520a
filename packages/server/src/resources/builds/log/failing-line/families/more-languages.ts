// Ruby, PHP, .NET, Perl and TAP, Elixir.
import { weights, type Family } from '../family.ts'

const { cause, exception, symptom, complaint, summary } = weights

export const moreLanguages: readonly Family[] = [
  {
    name: 'rspec',
    shapes: [
      { begins: /^\s+Failure\/Error: /, weight: cause },
      {
        begins: /^An error occurred while loading /,
        points: /^\s*\w+(?:::\w+)*(?:Error|Exception)?:$/,
        within: 6,
        weight: exception,
      },
      { begins: /^rspec '?\.\/\S+(?::\d+|\[)/, weight: complaint },
    ],
    fails: /^\d+ examples?, (?:[1-9]\d* failures?|0 failures,.* [1-9]\d* errors?)/,
    passes: /^[1-9]\d* examples?, 0 failures(?!.*error)/,
  },
  {
    name: 'minitest',
    shapes: [
      {
        begins: /^\s*(?:\d+\) )?(?:Failure|Error):$/,
        points: /^\S.*(?:\[\S+:\d+\]:|:)$/,
        within: 2,
        weight: cause,
      },
    ],
    fails: /^\d+ (?:runs|tests), \d+ assertions, (?!0 failures, 0 errors)/,
  },
  {
    name: 'ruby',
    gap: 60,
    shapes: [
      { begins: /^\S+\.rb:\d+:in .+ \([\w:]+\)$/, weight: exception },
      { begins: /^\S+\.rb:\d+: syntax error/, weight: cause },
      {
        begins: /^\S+:in .+: .+ \([\w:]*(?:Error|Exception|Exit)\w*\)$/,
        weight: exception,
      },
      { begins: /^Could not find gem |^Bundler could not find /, weight: exception },
      { begins: /^rake aborted!$/, points: /^\S/, within: 2, weight: exception },
    ],
  },
  {
    name: 'phpunit',
    shapes: [{ begins: /^\d+\) [\w\\]+::\w+/, points: /^\S/, within: 2, weight: cause }],
    fails: /^(?:FAILURES|ERRORS)!$|^Tests: \d+, Assertions: \d+, .*(?:Failures|Errors): [1-9]/,
    passes: /^OK \([1-9]\d* tests?, /,
  },
  {
    name: 'php',
    shapes: [{ begins: /^(?:PHP )?(?:Fatal error|Parse error|Recoverable fatal error): /, weight: cause }],
  },
  {
    name: 'dotnet',
    shapes: [
      { begins: /^\s*\S.*(?:\(\d+,\d+\))?: error [A-Z]+\d+: /, weight: cause },
      {
        begins: /^\s*(?:\[xUnit\.net [\d:.]+\]\s+)?(?:Failed|X) [\w.]+.* \[[<\d ]/,
        points: /^\s+(?!Error Message:)\S/,
        within: 3,
        weight: cause,
      },
      { begins: /^Unhandled exception\. /, weight: exception },
      { begins: /^Build FAILED\.$/, weight: summary },
    ],
    fails: /^Failed! +- Failed: +[1-9]|^\s*Failed: [1-9]\d*$/,
    passes: /^Passed! +- Failed: +0/,
  },
  {
    name: 'tap',
    shapes: [
      { begins: /^\s*not ok \d+(?!.*# (?:TODO|SKIP|todo|skip))/, weight: cause },
      { begins: /^\s*# {1,3}Failed test /, weight: exception },
      { begins: /^\s*✗ \S/, weight: complaint },
      { begins: /^\s+Failed tests?: +\d/, weight: summary },
    ],
  },
  {
    name: 'perl',
    shapes: [
      { begins: /^Can't locate \S+ in @INC/, weight: exception },
      { begins: /^\S.* at \S+ line \d+\.$/, weight: symptom },
    ],
  },
  {
    name: 'elixir',
    shapes: [
      {
        begins: /^\s+\d+\) test \S/,
        points: /^\s+(?:\*\* \(|Assertion |match \(|Expected)/,
        within: 3,
        weight: cause,
      },
      { begins: /^\*\* \([\w.]+\) /, weight: exception },
    ],
    fails: /^(?:\d+ doctests?, )?\d+ tests?, [1-9]\d* failures?/,
  },
]
