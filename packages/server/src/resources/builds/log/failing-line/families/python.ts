// Python: pytest, unittest, tracebacks, pip, and what checks Python code.
import { weights, type Family } from '../family.ts'

const { cause, exception, symptom, complaint, summary, epilogue } = weights

export const python: readonly Family[] = [
  {
    name: 'pytest',
    shapes: [
      { begins: /^E {2,}\S/, weight: cause },
      { begins: /^(?:FAILED|ERROR) \S+(?:::| - |$)/, weight: symptom },
      { begins: /^\S+::\S+ (?:FAILED|ERROR)\b/, weight: complaint },
      { begins: /^INTERNALERROR> \w[\w.]{0,99}(?:Error|Exception)\b/, weight: cause },
      { begins: /^_{3,} (?:ERROR )?[^_].* _{3,}$/, weight: summary },
    ],
    fails: /^(?:=+ )?(?:[1-9]\d* failed|(?:\d+ \w+, )*[1-9]\d* errors?)\b.* in [\d.]+s/,
    passes: /^(?:=+ )?\d+ passed\b(?!.*(?:failed|error)).* in [\d.]+s/,
  },
  {
    name: 'unittest',
    shapes: [
      {
        begins: /^(?:FAIL|ERROR): \S+ \(/,
        points: /^[\w.]+(?:Error|Exception|Failed|Exit|Interrupt)\b/,
        within: 100,
        weight: cause,
      },
      { begins: /^\w+ \([\w.]+\) \.\.\. (?:FAIL|ERROR)$/, weight: summary },
    ],
    fails: /^FAILED \((?:failures|errors)=[1-9]/,
    passes: /^OK(?: \([a-z =\d,]+\))?$/,
  },
  {
    // A traceback that is not the last one was only logged.
    name: 'python traceback',
    gap: 0,
    shapes: [
      {
        begins:
          /^(?:\s*(?:\+ )?(?:Exception Group )?Traceback \(most recent call last\):|Exception in thread .*:$)/,
        points:
          /^(?:[\w.]+(?:Error|Exception|Exit|Interrupt|Warning|Iteration|Group|NotFound|Timeout|DoesNotExist)|[a-z_]\w*(?:\.\w+)+)(?::\s|$)/,
        within: 200,
        weight: exception,
      },
      {
        begins: /^(?:(?:Syntax|Indentation|Tab|ModuleNotFound|Import)Error): /,
        weight: exception,
      },
    ],
  },
  {
    name: 'python checkers',
    shapes: [
      { begins: /^\S.*\.pyi?:\d+(?::\d+)?: error: /, weight: cause },
      { begins: /^\S.*\.(?:pyi?|ipynb):\d+:\d+: (?:[A-Z]{1,7}\d{2,4}|SyntaxError)\b/, weight: cause },
      { begins: /^\s+\S.*\.py:\d+:\d+ - error: /, weight: cause },
      {
        begins: /^(?:[A-Z]{1,7}\d{2,4}|invalid-syntax:?) (?:\[\*\] )?\S/,
        points: /^\s*--> \S/,
        within: 0,
        weight: cause,
      },
      { begins: /^error: cannot (?:format|parse)[ :]/, weight: cause },
      { begins: /^would reformat \S/, weight: symptom },
      { begins: /^ERROR: \S.* Imports are incorrectly sorted/, weight: symptom },
    ],
    fails:
      /^(?:Found [1-9]\d* errors?\b|[1-9]\d* files? would be reformatted|[1-9]\d* errors?, \d+ warnings?)/,
    passes: /^(?:All checks passed!|Success: no issues found)/,
  },
  {
    name: 'pip',
    shapes: [
      {
        begins:
          /^ERROR: (?:Could not find a version|No matching distribution|Cannot install|Package .* requires)/,
        weight: cause,
      },
      { begins: /^ERROR: /, weight: complaint },
      {
        begins: /^error: (?:subprocess-exited-with-error|metadata-generation-failed|legacy-install-failure)/,
        weight: complaint,
      },
    ],
  },
  {
    name: 'tox',
    shapes: [
      {
        begins: /^(?:\s*\S+: (?:FAIL code \d|exit -?\d+ \()|ERROR: InvocationError|evaluation failed)/,
        weight: epilogue,
      },
      { begins: /^nox > (?:Command .* failed|Session .* failed)/, weight: epilogue },
    ],
  },
]
