import { Link } from '@tanstack/react-router'
import { testName } from '../../api/resource-queries.ts'
import type { SuiteAddress } from './queries.ts'

interface Props {
  address: SuiteAddress
  test: { id: string; scope: string; name: string; labels: readonly string[] }
}

/** A test with its labels, as a link to its page. */
export const TestName = ({ address, test }: Props) => (
  <>
    <Link to="/organizations/$org/analytics/suites/$suite/tests/$test" params={{ ...address, test: test.id }}>
      {testName(test)}
    </Link>
    {test.labels.length > 0 && <span className="muted"> {test.labels.join(', ')}</span>}
  </>
)
