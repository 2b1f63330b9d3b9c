/**
 * How often somebody has to decide, depending on what is decided about.
 *
 * @param peakRate req/s
 * @param requestsPerConnection requests that a connection carries on average
 * @returns decisions/s of a balancer that decides about connections, and of one that decides about
 *   requests, and how many times more the second one decides
 */
export function decisionRates(
  peakRate: number,
  requestsPerConnection: number,
): { perConnection: number; perRequest: number; ratio: number } {
  const perConnection = peakRate / requestsPerConnection;
  return { perConnection, perRequest: peakRate, ratio: peakRate / perConnection };
}
