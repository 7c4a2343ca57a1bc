package dev.prony.targets.webflux;

import dev.prony.targets.common.Served;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.test.web.reactive.server.WebTestClient;

/** The routes that need no service; those with services are what {@code prony targets check} asks. */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
class RoutesTest {

    private static final String TOKEN = "Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"
            + ".eyJzdWIiOiJ1c2VyLTciLCJleHAiOjQxMDI0NDQ4MDB9.ZfyOs_wLGeG2YJ1XKe7IYpXLmdJkctKTZ1tpKvKVQNQ";

    @Autowired
    private WebTestClient client;

    @ParameterizedTest
    @CsvSource(delimiter = ' ', value = {
        "/ping {\"code\":0,\"msg\":\"ok\",\"data\":{}}",
        "/health {\"status\":\"ok\"}",
        "/auth {\"code\":0,\"msg\":\"ok\",\"data\":{\"sub\":\"user-7\"}}",
        "/middleware/0 {\"code\":0,\"msg\":\"ok\",\"data\":{\"layers\":0}}",
        "/middleware/1 {\"code\":0,\"msg\":\"ok\",\"data\":{\"layers\":1}}",
        "/middleware/2 {\"code\":0,\"msg\":\"ok\",\"data\":{\"layers\":2}}",
        "/middleware/3 {\"code\":0,\"msg\":\"ok\",\"data\":{\"layers\":3}}",
    })
    void answers(String path, String body) {
        client.get().uri(path).header("Authorization", TOKEN).exchange()
                .expectStatus().isOk()
                .expectBody(String.class).isEqualTo(body);
    }

    @ParameterizedTest
    @CsvSource({"/json/0,400", "/middleware/4,400", "/middleware/2,401", "/auth,401", "/db/1,503", "/db/x,400",
        "/db/scan,400", "/db/1?queries=21,400", "/cache/a!b,400", "/cache/a,503", "/grpc/0,400", "/grpc/1,503",
        "/mixed?id=x,400", "/file/2k,404", "/nope,404"})
    void errorsHaveTheEnvelope(String path, int status) {
        client.get().uri(path).exchange()
                .expectStatus().isEqualTo(status)
                .expectBody().jsonPath("$.code").isEqualTo(status).jsonPath("$.data").isEmpty();
    }

    @Test
    void requestsAreCountedButThoseForProny() {
        long before = Served.requests();
        for (String path : new String[] {"/ping", "/nope", "/debug/runtime"}) {
            client.get().uri(path).exchange().expectBody(String.class).returnResult();
        }
        Assertions.assertEquals(2, Served.requests() - before);
    }

    @Test
    void bytesGoOutAndComeInWhole() {
        byte[] file = client.get().uri("/file/64k").exchange()
                .expectHeader().contentType("application/octet-stream")
                .expectBody().returnResult().getResponseBody();
        client.post().uri("/upload").bodyValue(file).exchange()
                .expectBody().jsonPath("$.data.sha256")
                .isEqualTo("62b3a2ef06cf977623a5936a8fa653e3caecbf69b5f393ebdfe5022affc5331f");
        client.post().uri("/upload").bodyValue(new byte[(16 << 20) + 1]).exchange()
                .expectStatus().isEqualTo(413);
    }
}
