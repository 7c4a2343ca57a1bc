package dev.prony.targets.webflux;

import dev.prony.targets.common.Settings;
import dev.prony.targets.common.Settings.SettingException;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.r2dbc.R2dbcAutoConfiguration;
import org.springframework.context.annotation.Bean;

/**
 * Spring WebFlux as a target; connections to services come from {@link Settings} and not from Spring's
 * properties.
 */
@SpringBootApplication(exclude = R2dbcAutoConfiguration.class)
public class WebFluxTarget {

    public static void main(String[] args) {
        try {
            Settings settings = Settings.of(System.getenv());
            if (settings.eventLoopThreads() > 0) {
                // Reactor Netty reads it when the first event loop is made.
                System.setProperty("reactor.netty.ioWorkerCount", Integer.toString(settings.eventLoopThreads()));
            }
            SpringApplication application = new SpringApplication(WebFluxTarget.class);
            application.setDefaultProperties(Map.of(
                    "server.address", settings.listen().host(), "server.port", settings.listen().port(),
                    "server.http2.enabled", settings.http2()));
            application.run(args);
        } catch (SettingException wrong) {
            System.err.println("error: " + wrong.getMessage());
            System.exit(1);
        }
    }

    @Bean
    Settings settings() {
        return Settings.of(System.getenv());
    }
}
