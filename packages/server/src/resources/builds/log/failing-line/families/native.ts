// C and C++ and what builds and tests them: compilers, linkers, Make, CMake, Ninja, CTest.
import { weights, type Family } from '../family.ts'

const { cause, exception, symptom, complaint, summary, epilogue } = weights

export const native: readonly Family[] = [
  {
    name: 'compilers',
    shapes: [
      { begins: /^\S.*?:\d+(?::\d+)?: (?:fatal )?error: /, weight: cause },
      {
        begins:
          /^(?:.*: (?:undefined reference to|multiple definition of) |\S*ld: cannot find -l|Undefined symbols for architecture)/,
        weight: cause,
      },
      { begins: /^(?:cc1\w*|gcc|g\+\+|cc|clang): (?:fatal )?error: /, weight: exception },
      {
        begins: /^(?:collect2: error: |clang\S*: error: linker command failed)/,
        weight: summary,
      },
      { begins: /^\d+ errors? generated\.$/, weight: epilogue },
      {
        begins:
          /^(?:(?:==\d+==\s?)?ERROR: \w+Sanitizer: |\S+: runtime error: |.*: Assertion [`'].+ failed\.$)/,
        weight: cause,
      },
      { begins: /^\S.*\.(?:cc|cpp|cxx|c|h|hpp):\d+: (?:Failure|FAILED:)$/, weight: cause },
      { begins: /^\[  FAILED  \] \w/, weight: complaint },
    ],
  },
  {
    name: 'make',
    shapes: [
      {
        begins: /^g?make(?:\[\d+\])?: \*\*\* \[.+\] (?:Error|Segmentation|Terminated|Killed|Aborted)/,
        weight: epilogue,
      },
      {
        begins: /^g?make(?:\[\d+\])?: (?:\*\*\* Waiting for|Target .+ not remade|Leaving directory)/,
        weight: epilogue,
      },
      { begins: /^g?make(?:\[\d+\])?: \*\*\* \S/, weight: exception },
      { begins: /^[\w./-]+:\d+: \*\*\* \S/, weight: exception },
      { begins: /^ninja: build stopped/, weight: epilogue },
      { begins: /^ninja: (?:error|fatal): /, weight: exception },
      { begins: /^FAILED: \S/, weight: summary },
    ],
  },
  {
    name: 'cmake',
    shapes: [
      { begins: /^CMake Error at \S+:\d+/, points: /^\s+\S/, within: 2, weight: exception },
      { begins: /^CMake Error(?: in \S+)?: /, weight: exception },
      { begins: /^-- Configuring incomplete, errors occurred!/, weight: epilogue },
    ],
  },
  {
    name: 'ctest',
    shapes: [
      {
        begins: /^\s*\d+\/\d+ Test +#\d+: .*\*{3}(?:Failed|Exception|Timeout|Not Run)/,
        points: /^(?!\s*\d+\/\d+ |\s+Start|\d+% tests)\s*\S/,
        within: 2,
        weight: exception,
      },
      {
        begins: /^\s+\d+ - .+ \((?:Failed|Timeout|SEGFAULT|Not Run|Child aborted)\)$/,
        weight: complaint,
      },
      { begins: /^Errors while running CTest/, weight: epilogue },
    ],
    fails: /^\d+% tests passed, [1-9]\d* tests? failed/,
  },
  {
    name: 'signals',
    shapes: [
      {
        begins:
          /^(?:\S+: )?(?:line \d+: +\d+ )?(?:Segmentation fault|Bus error|Illegal instruction|Aborted|Floating point exception)(?: +\(core dumped\)|$|\s{2,})/,
        weight: symptom,
      },
      {
        begins: /^(?:\S+: )?(?:line \d+: +\d+ )?(?:Killed(?:$|\s{2,})|OOMKilled\b|[Oo]ut of memory)/,
        weight: symptom,
      },
    ],
  },
  {
    name: 'checkers',
    shapes: [
      { begins: /^In \S+ line \d+:$/, weight: complaint },
      { begins: /^\s+\d+:\d+\s+error\s+\S/, weight: cause },
    ],
  },
]
