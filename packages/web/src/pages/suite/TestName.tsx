import { Link } from '@tanstack/react-router'
import type { SuiteAddress } from './queries.ts'

interface Props {
  address: SuiteAddress
  test: { id: string; scope: string; name: string; labels: readonly string[] }
}

/** A test with its labels, as a link to its page. */
export const TestName = ({ address, test }: Props) => (
  <>
    <Link to="/organizations/$org/analytics/suites/$suite/tests/$test" params={{ ...address, test: test.id }}>
      {test.scope === '' ? test.name : `${test.scope} › ${test.name}`}
    </Link>
    {test.labels.length > 0 && <span className="muted"> {test.labels.join(', ')}</span>}
  </>
)
