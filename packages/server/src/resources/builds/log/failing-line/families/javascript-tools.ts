// What checks, bundles and installs JavaScript.
import { weights, type Family } from '../family.ts'

const { cause, exception, symptom, complaint, summary, epilogue } = weights

export const javascriptTools: readonly Family[] = [
  {
    name: 'typescript',
    shapes: [
      { begins: /^\S.*(?:\(\d+,\d+\):|:\d+:\d+ -) error TS\d+: /, weight: cause },
      { begins: /^error TS\d+: /, weight: cause },
    ],
    fails: /^Found [1-9]\d* errors?\b/,
    passes: /^Found 0 errors\b/,
  },
  {
    name: 'eslint',
    shapes: [
      { begins: /^\s+\d+:\d+\s+error\s+\S/, weight: cause },
      { begins: /^\s+\d+:\d+\s+✖\s+\S/, weight: cause },
      { begins: /^ESLint found too many warnings/, weight: complaint },
      {
        begins: /^Oops! Something went wrong!/,
        points: /^[\w.]*Error\b|^ESLint couldn't/,
        within: 8,
        weight: exception,
      },
    ],
    fails: /^✖ [1-9]\d* problems? \((?!0 errors)/,
  },
  {
    name: 'prettier',
    shapes: [
      { begins: /^\[warn\] (?!Code style|All matched)\S+$/, weight: complaint },
      { begins: /^\[error\] \S/, weight: cause },
    ],
    fails: /^\[warn\] Code style issues/,
  },
  {
    name: 'bundlers',
    shapes: [
      {
        begins: /^ERROR in (?!\d)\S/,
        points: /^\s*(?:Module (?:not found|build failed|parse failed)|TS\d+:|[\w.]*Error\b)/,
        within: 3,
        weight: cause,
      },
      { begins: /^(?:✘|✗|X) \[ERROR\] /, weight: cause },
      {
        begins: /^(?:error during build:|\[vite\]: Rollup failed|✗ Build failed in)/,
        points: /^(?:\S*Error\b|.*(?:Could not resolve|is not exported|failed to resolve))/,
        within: 6,
        weight: symptom,
      },
    ],
    fails: /^webpack .+ compiled with [1-9]\d* errors?\b/,
  },
  {
    name: 'npm',
    shapes: [
      {
        begins:
          /^npm (?:error|ERR!) (?:(?:Lifecycle script|Test failed|Exit status|Failed at the|This is probably not|A complete log|Log files|There is likely|command (?:failed|sh|node|\/)|path |workspace |location |in workspace|errno |syscall |dest |signal |code (?:ELIFECYCLE|1$)|\s|at )|$)/,
        weight: epilogue,
      },
      {
        begins:
          /^npm (?:error|ERR!) (?:code |If you |A possible|Verify |You can|It is likely|This could|Did you mean|To see|Clean install|Usage:|Options:|Run "|Note |aliases|npm )/,
        weight: summary,
      },
      { begins: /^npm (?:error|ERR!) /, weight: exception },
      { begins: /^\s?ERR_PNPM_\w+/, weight: exception },
      { begins: /^\s?ELIFECYCLE\b|^error Command failed with exit code/, weight: epilogue },
    ],
  },
]
