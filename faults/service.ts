/** Where clients find the service. */
export interface Service {
  apiUrl: string;
  apiKey: string;
}
